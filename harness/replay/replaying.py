"""One history and its questions: ingest, then search and ask."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.assistants.client import AssistantClient
from harness.assistants.wire import Answer, RankedValue, rfc3339
from harness.datasets.official_ids import official_session_id, official_turn_id
from harness.datasets.questions import HaystackSession, Question, rounds_of
from harness.errors import BadReply
from harness.replay.blinding import Blinding
from harness.replay.ingest import Ingested, Ingester

TOP_K = 50
_SEARCH = "POST /v1/memories/search"


@dataclass(frozen=True, slots=True)
class Searched:
    """Both rankings of one question, best first, with the milliseconds each took."""

    rounds: list[RankedValue]
    rounds_ms: float
    sessions: list[RankedValue]
    sessions_ms: float


class Replayer:
    """Takes questions through the assistant under their opaque names."""

    def __init__(self, client: AssistantClient, blinding: Blinding, ingester: Ingester) -> None:
        self._client = client
        self._blinding = blinding
        self._ingester = ingester

    async def is_ingested(self, question: Question) -> bool:
        """Whether the assistant still holds the question's whole history."""
        return await self._ingester.is_stored(question)

    async def ingest(self, question: Question) -> dict[str, Any]:
        """Bring in the question's history; returns the line for `ingest.jsonl`."""
        ingested = await self._ingester.ingest(question)
        return self._ingest_record(question, ingested)

    async def retrieve(self, question: Question) -> dict[str, Any]:
        """Search an ingested history; returns the line for `retrieval.jsonl`."""
        return self._retrieval_record(question, await self._search(question))

    async def ask(self, question: Question) -> dict[str, Any]:
        """Ask the question of an ingested history; returns the line for `hypotheses.jsonl`."""
        now = rfc3339(question.question_date)
        started = time.perf_counter()
        answer = await self._client.ask(
            self._blinding.user(question.history_id),
            self._blinding.asking_session(question.question_id),
            question.question,
            now=now,
        )
        return _hypothesis_record(question, answer, _ms_since(started), now)

    async def forget(self, question: Question) -> None:
        """Delete the history's user from the assistant."""
        await self._client.forget_user(self._blinding.user(question.history_id))

    async def _search(self, question: Question) -> Searched:
        user_id = self._blinding.user(question.history_id)
        now = rfc3339(question.question_date)
        text = question.question
        started = time.perf_counter()
        rounds = await self._client.search(user_id, text, now=now, unit="round", top_k=TOP_K)
        rounds_ms = _ms_since(started)
        started = time.perf_counter()
        sessions = await self._client.search(user_id, text, now=now, unit="session", top_k=TOP_K)
        return Searched(rounds, rounds_ms, sessions, _ms_since(started))

    def _ingest_record(self, question: Question, ingested: Ingested) -> dict[str, Any]:
        return {
            "history_id": question.history_id,
            "user_id": self._blinding.user(question.history_id),
            "sessions": ingested.sessions,
            "rounds": len(ingested.round_ms),
            "turns": ingested.turns,
            "characters": ingested.characters,
            "seconds": round(ingested.seconds, 3),
            "barrier_seconds": round(ingested.barrier_seconds, 3),
            "enrichment_failed": ingested.enrichment_failed,
            "round_ms": ingested.round_ms,
        }

    def _retrieval_record(self, question: Question, searched: Searched) -> dict[str, Any]:
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


def _ranked_session(value: RankedValue, by_name: Mapping[str, HaystackSession]) -> dict[str, Any]:
    session = _unblinded(value, by_name)
    return {
        "session_id": session.session_id,
        "position": session.position,
        "session_date": rfc3339(session.session_date),
        "similarity": value.similarity,
        "official_id": official_session_id(session),
    }


def _ranked_round(value: RankedValue, by_name: Mapping[str, HaystackSession]) -> dict[str, Any]:
    session = _unblinded(value, by_name)
    rounds = rounds_of(session.turns)
    if not 0 <= value.round_index < len(rounds):
        problem = f"search returned round {value.round_index} of a session with {len(rounds)}"
        raise BadReply(problem, route=_SEARCH)
    turns = [session.turns[i] for i in rounds[value.round_index].turns]
    named = [turn.turn_id for turn in turns if turn.turn_id is not None]
    return {
        "session_id": session.session_id,
        "position": session.position,
        "round_index": value.round_index,
        "similarity": value.similarity,
        "characters": value.characters,
        "official_id": official_turn_id(session, rounds[value.round_index].turns[0]),
        **({"turn_ids": named} if named else {}),
    }


def _unblinded(value: RankedValue, by_name: Mapping[str, HaystackSession]) -> HaystackSession:
    session = by_name.get(value.session_id)
    if session is None:
        problem = f"search returned session {value.session_id!r}, which this user never had"
        raise BadReply(problem, route=_SEARCH)
    return session


def _hypothesis_record(
    question: Question, answer: Answer, answer_ms: float, now: str
) -> dict[str, Any]:
    return {
        "question_id": question.question_id,
        "hypothesis": answer.text,
        "question_date": now,
        "answer_ms": answer_ms,
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
    }


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)
