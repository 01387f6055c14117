"""Our own routes: turns are recorded as they were said, rankings asked for beside the answer."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from harness.assistants.client import AssistantClient
from harness.assistants.wire import RankedValue
from harness.datasets.questions import HaystackSession, Question, rounds_of
from harness.errors import BadReply
from harness.records.schema import IngestLine, RankedRound, RankedSession, RetrievalLine
from harness.replay.blinding import Blinding
from harness.replay.ingest import Ingester
from harness.replay.modes.mode import Asked, hypothesis_line, ingest_line, ms_since
from harness.replay.rankings import ranked_round, ranked_session
from harness.replay.source_matching import RoundPlace
from harness.spending.budget import Meter
from harness.text import rfc3339

TOP_K = 50
_SEARCH = "POST /v1/memories/search"


@dataclass(frozen=True, slots=True)
class Searched:
    """Both rankings of one question, best first, with the milliseconds each took."""

    rounds: list[RankedValue]
    rounds_ms: float
    sessions: list[RankedValue]
    sessions_ms: float


class NativeMode:
    """Records, searches and asks under opaque names (`Mode`)."""

    searches = True
    shares_histories = True

    def __init__(
        self, client: AssistantClient, blinding: Blinding, ingester: Ingester, meter: Meter
    ) -> None:
        self._client = client
        self._blinding = blinding
        self._ingester = ingester
        self._meter = meter

    async def is_ingested(self, question: Question) -> bool:
        """Whether the assistant still holds the question's whole history."""
        return await self._ingester.is_stored(question)

    async def ingest(self, question: Question) -> IngestLine:
        """Bring in the question's history; returns the line for `ingest.jsonl`."""
        ingested = await self._ingester.ingest(question)
        user_id = self._blinding.user(question.history_id)
        return ingest_line(question.history_id, user_id, ingested)

    async def retrieve(self, question: Question) -> RetrievalLine:
        """Search an ingested history; returns the line for `retrieval.jsonl`."""
        return self._retrieval_record(question, await self._search(question))

    async def ask(self, question: Question) -> Asked:
        """Ask the question of an ingested history."""
        started = time.perf_counter()
        answer = await self._meter.spend(
            len(question.question),
            lambda: self._client.ask(
                self._blinding.user(question.history_id),
                self._blinding.asking_session(question.question_id),
                question.question,
                now=rfc3339(question.question_date),
            ),
        )
        return Asked(hypothesis_line(question, answer, started))

    async def forget(self, question: Question) -> None:
        """Delete the history's user from the assistant."""
        await self._client.forget_user(self._blinding.user(question.history_id))

    async def _search(self, question: Question) -> Searched:
        user_id = self._blinding.user(question.history_id)
        now = rfc3339(question.question_date)
        text = question.question
        started = time.perf_counter()
        rounds = await self._client.search(user_id, text, now=now, unit="round", top_k=TOP_K)
        rounds_ms = ms_since(started)
        started = time.perf_counter()
        sessions = await self._client.search(user_id, text, now=now, unit="session", top_k=TOP_K)
        return Searched(rounds, rounds_ms, sessions, ms_since(started))

    def _retrieval_record(self, question: Question, searched: Searched) -> RetrievalLine:
        by_name = {
            self._blinding.session(question.history_id, session.position): session
            for session in question.sessions
        }
        return {
            "question_id": question.question_id,
            "user_id": self._blinding.user(question.history_id),
            "ranked_sessions": [_ranked_session(value, by_name) for value in searched.sessions],
            "ranked_rounds": [_ranked_round(value, by_name) for value in searched.rounds],
            "search_ms": {"round": searched.rounds_ms, "session": searched.sessions_ms},
        }


def _ranked_session(value: RankedValue, by_name: Mapping[str, HaystackSession]) -> RankedSession:
    return ranked_session(_unblinded(value, by_name)) | {"similarity": value.similarity}


def _ranked_round(value: RankedValue, by_name: Mapping[str, HaystackSession]) -> RankedRound:
    session = _unblinded(value, by_name)
    rounds = rounds_of(session.turns)
    if not 0 <= value.round_index < len(rounds):
        problem = f"search returned round {value.round_index} of a session with {len(rounds)}"
        raise BadReply(problem, route=_SEARCH)
    place = RoundPlace(session, value.round_index)
    return ranked_round(place, value.characters) | {"similarity": value.similarity}


def _unblinded(value: RankedValue, by_name: Mapping[str, HaystackSession]) -> HaystackSession:
    session = by_name.get(value.session_id)
    if session is None:
        problem = f"search returned session {value.session_id!r}, which this user never had"
        raise BadReply(problem, route=_SEARCH)
    return session
