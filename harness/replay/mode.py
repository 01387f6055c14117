"""What every mode can do with one question and its history, and the lines that all modes write:
rankings under the data's own ids, whoever made them.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple, TypedDict, cast

from harness.assistants.returned_sources import Returned, ReturnedSource, SourceLayout
from harness.assistants.wire import WireAnswer
from harness.datasets.questions import (
    HaystackSession,
    Question,
    official_session_id,
    official_turn_id,
    rounds_of,
)
from harness.errors import UsageError
from harness.records.schema import (
    HypothesisLine,
    IngestLine,
    RankedRound,
    RankedSession,
    RetrievalLine,
    SourcesAccount,
)
from harness.replay.ingest import Ingested
from harness.replay.source_matching import By, HistoryRound, SourceMatcher, SourcePlace
from harness.text import beginning, rfc3339


class AnswerLines(NamedTuple):
    """The line for `hypotheses.jsonl`, and one for `retrieval.jsonl` where the sources of an answer
    are read.
    """

    hypothesis: HypothesisLine
    retrieval: RetrievalLine | None = None


class ReplayMode(ABC):
    """Brings in histories and asks questions under opaque names. Methods may raise the errors of
    `harness.errors`; each returned object is a line of the run directory. By default nothing is
    brought in and nothing is remembered.
    """

    searches = False
    """Whether `retrieve` can be asked for rankings."""
    shares_histories = True
    """Whether one ingested history serves several questions."""

    async def is_ingested(self, question: Question) -> bool:
        """Whether a history that was ingested earlier can be used as it is. Where the assistant
        cannot be asked, a history that was sent whole counts as remembered.
        """
        return True

    async def ingest(self, question: Question) -> IngestLine | None:
        """Bring in the question's history, whole and in order; the line for `ingest.jsonl`, None
        where nothing is brought in.
        """
        return None

    async def retrieve(self, question: Question) -> RetrievalLine:
        """Search an ingested history; the line for `retrieval.jsonl`."""
        raise UsageError("searching needs --mode native with our own assistant's routes")

    @abstractmethod
    async def ask(self, question: Question) -> AnswerLines:
        """Ask the question of an ingested history."""

    async def forget(self, history_id: str, when: datetime) -> None:  # noqa: B027
        """Delete the history's user from the assistant, where it can; `when` is the assistant's
        time.
        """


def ingest_line(history_id: str, user_id: str, ingested: Ingested) -> IngestLine:
    return {
        "history_id": history_id,
        "user_id": user_id,
        "sessions": ingested.sessions,
        "rounds": len(ingested.round_ms),
        "turns": ingested.turns,
        "characters": ingested.characters,
        "seconds": round(ingested.seconds, 3),
        "barrier_seconds": round(ingested.barrier_seconds, 3),
        "enrichment_failed": ingested.enrichment_failed,
        "round_ms": ingested.round_ms,
    }


def hypothesis_line(question: Question, answer: WireAnswer, started: float) -> HypothesisLine:
    """An answer to a question that was sent at `started` (`time.perf_counter`)."""
    line: HypothesisLine = {
        "question_id": question.question_id,
        "hypothesis": answer.text,
        "question_date": rfc3339(question.question_date),
        "answer_ms": ms_since(started),
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
    }
    if looking := answer.looking:
        line |= {"looks": looking.calls, "look_tokens": looking.tokens, "look_ms": looking.ms}
    return line


def ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)


# Position, round index and ids of a source that keeps its rank but fits nothing in the history.
NOWHERE = -1
UNPLACED = "unplaced"
_NOWHERE: RankedSession = {
    "session_id": UNPLACED,
    "position": NOWHERE,
    "session_date": "",
    "official_id": UNPLACED,
}
_MATCHED_BY: tuple[By, ...] = ("turn", "round", "text", "session")


class ToldSources(TypedDict):
    """What the sources of one answer add to its line."""

    ranked_sessions: list[RankedSession] | None
    ranked_rounds: list[RankedRound] | None
    sources: SourcesAccount


def ranked_session(session: HaystackSession) -> RankedSession:
    return {
        "session_id": session.session_id,
        "position": session.position,
        "session_date": rfc3339(session.session_date),
        "official_id": official_session_id(session),
    }


def ranked_round(place: HistoryRound, characters: int | None = None) -> RankedRound:
    """A round of the history at its place in a ranking; `characters` is what a reader is given of
    it, by default all that was said.
    """
    session = place.session
    numbers = rounds_of(session.turns)[place.round_index].turns
    turns = [session.turns[i] for i in numbers]
    named = [turn.turn_id for turn in turns if turn.turn_id is not None]
    said = sum(len(turn.content) for turn in turns)
    ranked: RankedRound = {
        "session_id": session.session_id,
        "position": session.position,
        "round_index": place.round_index,
        "session_date": rfc3339(session.session_date),
        "begins": beginning(turns[0].content),
        "characters": said if characters is None else characters,
        "official_id": official_turn_id(session, numbers[0]),
    }
    return ranked | {"turn_ids": named} if named else ranked


def sources_line(layout: SourceLayout, returned: Returned, matcher: SourceMatcher) -> ToldSources:
    """Return both rankings that the sources of one answer make, None for one that they do not tell,
    and an account of the matching. A source that fits nothing keeps its rank.
    """
    sources = returned.sources or []
    places = [matcher.place(source) for source in sources]
    placed = [place for place in places if place.by is not None]
    problems = [place.problem for place in places if place.problem is not None]
    ranked = list(chain.from_iterable(map(_rounds, sources, places)))
    is_ranked = returned.sources == [] or bool(placed)
    # If the round of one source is unknown, it could be the evidence: then no rank of a round is
    # certain.
    tells_rounds = layout.tells_rounds and all(place.rounds for place in placed)
    sized = is_ranked and all(item["characters"] is not None for item in ranked)
    account: SourcesAccount = {
        "state": _state(returned, placed),
        "returned": len(sources),
        "by": {by: sum(p.by == by for p in placed) for by in _MATCHED_BY},
        "unplaced": len(sources) - len(placed),
        "problem": returned.problem or next(iter(problems), None),
        "tells_rounds": is_ranked and tells_rounds,
        "tells_context": sized and (bool(sources) or layout.tells_rounds),
    }
    return {
        "ranked_sessions": _sessions(places) if is_ranked else None,
        "ranked_rounds": ranked if is_ranked else None,
        "sources": account,
    }


def _state(returned: Returned, placed: Sequence[SourcePlace]) -> str:
    if returned.sources is None:
        return "not returned" if returned.problem is None else "unreadable"
    if not returned.sources:
        return "empty"
    return "placed" if placed else "unplaced"


def _rounds(source: ReturnedSource, place: SourcePlace) -> Iterator[RankedRound]:
    """Yield the places of one source in the ranking of rounds; the first has its text's size."""
    size = None if source.text is None else len(source.text)
    for number, round_place in enumerate(place.rounds):
        yield ranked_round(round_place, size if number == 0 or size is None else 0)
    if not place.rounds:
        known = ranked_session(place.session) if place.session else _NOWHERE
        nowhere = {"round_index": NOWHERE, "characters": size, "official_id": UNPLACED}
        yield cast(RankedRound, {**known, **nowhere})


def _sessions(places: Sequence[SourcePlace]) -> list[RankedSession]:
    """Sessions at their best ranks; a source that fits nothing keeps a rank of its own."""
    ranked: dict[Any, RankedSession] = {}
    for number, place in enumerate(places):
        found = [p.session for p in place.rounds] or [s for s in [place.session] if s]
        for session in found:
            ranked.setdefault(session.position, ranked_session(session))
        if not found:
            ranked[UNPLACED, number] = _NOWHERE | {"session_id": f"{UNPLACED} {number + 1}"}
    return list(ranked.values())
