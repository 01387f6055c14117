"""Replies about memories: values, what was found, pages, what was forgotten."""

from collections.abc import Iterator
from typing import Any, Literal, Self

from assistant.api.replies.base import Day, Instant, Reply
from assistant.dates import print_instant
from memory_store import Conflict as StoredConflict
from memory_store import (
    Days,
    Fact,
    FactLink,
    Reason,
    Recalled,
    RecalledSession,
    Record,
    Step,
    TimeRange,
    Told,
)
from memory_store import Forgotten as ForgottenRounds

Speaker = Literal["user", "assistant", "quoted"]
"""Who said something; `quoted` is somebody whom the user quotes or whose text they paste."""


class DayRange(Reply):
    """Days, both inclusive; an open end is null."""

    first: Day | None
    last: Day | None

    @classmethod
    def of(cls, days: Days) -> Self:
        """These days."""
        return cls(**_ends(days))


class TimeAsked(DayRange):
    """The days that a question asks about, and the words that say so."""

    precision: str
    text: str

    @classmethod
    def asked(cls, found: TimeRange | None) -> Self | None:
        """The days, where the question names any."""
        if found is None:
            return None
        return cls(**_ends(found.days), precision=found.precision, text=found.text)


class LinkedFact(Reply):
    """The fact on the other side of a link."""

    id: str
    text: str
    said_at: Instant
    by: str

    @classmethod
    def of(cls, link: FactLink) -> Self:
        """The fact that the link leads to."""
        return cls(
            id=link.round_id, text=link.text, said_at=print_instant(link.said_at), by=link.by
        )


class KeptFact(Reply):
    """A fact of a round."""

    text: str
    speaker: Speaker
    source: str
    event_dates: list[DayRange]
    superseded_by: LinkedFact | None
    supersedes: list[LinkedFact]
    in_doubt: bool
    contradicts: list[LinkedFact]

    @classmethod
    def of(cls, fact: Fact) -> Self:
        """A fact with its links."""
        return cls(**_fact_fields(fact))


class HistoryStep(Reply):
    """One statement in the history of a fact."""

    id: str
    text: str
    said_at: Instant
    source: str
    until: LinkedFact | None

    @classmethod
    def of(cls, step: Step) -> Self:
        """One statement, and the one that replaced it."""
        return cls(
            id=step.said.round_id,
            text=step.said.text,
            said_at=print_instant(step.said.said_at),
            source=step.said.by,
            until=LinkedFact.of(step.until) if step.until else None,
        )


class ToldFact(KeptFact):
    """A fact with everything that was said of the matter, oldest first."""

    history: list[HistoryStep]

    @classmethod
    def every(cls, told: Told) -> Iterator[Self]:
        """The facts of a round, each with its history."""
        for fact, history in zip(told.record.facts, told.histories, strict=True):
            yield cls(**_fact_fields(fact), history=list(map(HistoryStep.of, history)))


class EnrichmentState(Reply):
    """How far the background work on a round is."""

    state: Literal["pending", "done", "failed"]
    attempts: int
    extractor: str | None
    failure: str | None

    @classmethod
    def of(cls, record: Record) -> Self:
        """How far it is with a round."""
        return cls(
            state=record.enrichment.value,
            attempts=record.attempts,
            extractor=record.extractor or None,
            failure=record.failure or None,
        )


class MemoryBase(Reply):
    """A round, apart from its facts."""

    object: Literal["memory"]
    id: str
    session_id: str
    round_index: int
    session_date: Instant
    user_text: str
    assistant_text: str
    enrichment: EnrichmentState
    corrected_at: Instant | None

    @classmethod
    def of(cls, record: Record) -> Self:
        """What is known of a stored round."""
        return cls(**_round_fields(record))


class Memory(MemoryBase):
    """A round as a value."""

    facts: list[KeptFact]

    @classmethod
    def of(cls, record: Record) -> Self:
        """A stored round."""
        return cls(**_round_fields(record), facts=list(map(KeptFact.of, record.facts)))


class ToldMemory(MemoryBase):
    """A round, each of its facts with its history."""

    facts: list[ToldFact]


class SignalReason(Reply):
    """What a signal added to a similarity, and what matched."""

    signal: str
    value: float
    weight: float
    contribution: float
    because: list[str]

    @classmethod
    def of(cls, reason: Reason) -> Self:
        """One part of a similarity."""
        return cls(
            signal=reason.signal,
            value=round(reason.value, 6),
            weight=reason.weight,
            contribution=round(reason.contribution, 6),
            because=list(reason.because),
        )


class FoundMemory(Memory):
    """A value that was found."""

    similarity: float
    signals: dict[str, float]
    reasons: list[SignalReason]

    @classmethod
    def found(cls, found: Recalled) -> Self:
        """A round with why it was found."""
        return cls(**_found_fields(found))


class FoundRound(Reply):
    """A round found in a session."""

    id: str
    round_index: int
    similarity: float

    @classmethod
    def of(cls, found: Recalled) -> Self:
        """Which round it is, and how near."""
        return cls(
            id=found.record.id,
            round_index=found.record.round.round_index,
            similarity=round(found.similarity, 6),
        )


class FoundSession(FoundMemory):
    """A session by its best round, with every round of it that was found."""

    rounds: list[FoundRound]

    @classmethod
    def gathered(cls, found: RecalledSession) -> Self:
        """A session that was found: its best round, and all its rounds that were."""
        rounds = list(map(FoundRound.of, found.rounds))
        return cls(**_found_fields(found.rounds[0]), rounds=rounds)


class SearchResult(Reply):
    """Ranked values, best first."""

    object: Literal["list"]
    query: str
    now: Instant
    time_range: TimeAsked | None
    unit: Literal["round", "session"]
    timings: dict[str, float]
    data: list[FoundMemory] | list[FoundSession]


class MemoryPage(Reply):
    """A page of values; `next` is null on the last one."""

    object: Literal["list"]
    total: int
    next: str | None
    data: list[Memory]


class Conflict(Reply):
    """A statement that may be another's, and the user's own that it would replace."""

    object: Literal["conflict"]
    id: str
    session_id: str
    round_index: int
    fact: str
    speaker: Speaker
    source: str
    said_at: Instant
    contradicts: list[LinkedFact]

    @classmethod
    def of(cls, conflict: StoredConflict) -> Self:
        """A statement in doubt, and what it contradicts."""
        round = conflict.record.round
        return cls(
            object="conflict",
            id=conflict.record.id,
            session_id=round.session_id,
            round_index=round.round_index,
            fact=conflict.fact.text,
            speaker=conflict.fact.speaker.value,
            source=conflict.fact.source,
            said_at=print_instant(round.session_date),
            contradicts=list(map(LinkedFact.of, conflict.held)),
        )


class Conflicts(Reply):
    """The newest conflicts; `total` counts all."""

    object: Literal["list"]
    total: int
    data: list[Conflict]


class Forgotten(Reply):
    """How much went; with `dry_run` nothing did, and this is how much would."""

    dry_run: bool
    rounds: int
    facts: int
    sessions: int
    answers: int

    @classmethod
    def of(cls, gone: ForgottenRounds, *, dry_run: bool, **named: Any) -> Self:
        """How much went, or would go; `named` are the fields that say of what."""
        return cls(
            **named,
            dry_run=dry_run,
            rounds=gone.rounds,
            facts=gone.facts,
            sessions=gone.sessions,
            answers=gone.answers,
        )


class ForgottenMemory(Forgotten):
    """A round that went."""

    object: Literal["memory.deleted"]
    id: str
    deleted: bool


class ForgottenUser(Forgotten):
    """Everything of a user that went; `deleted` counts the rounds, none in a dry run."""

    object: Literal["user.memories.deleted"]
    user_id: str
    deleted: int


class ImportedMemories(Reply):
    """How many rounds were new, how many were there, and what could not be read."""

    object: Literal["user.memories.imported"]
    user_id: str
    imported: int
    known: int
    unreadable: list[str]


def _ends(days: Days) -> dict[str, str | None]:
    return {
        "first": days.first.isoformat() if days.first else None,
        "last": days.last.isoformat() if days.last else None,
    }


def _fact_fields(fact: Fact) -> dict[str, Any]:
    newer = fact.superseded_by
    return {
        "text": fact.text,
        "speaker": fact.speaker.value,
        "source": fact.source,
        "event_dates": list(map(DayRange.of, fact.event_dates)),
        "superseded_by": LinkedFact.of(newer) if newer else None,
        "supersedes": list(map(LinkedFact.of, fact.supersedes)),
        "in_doubt": fact.in_doubt,
        "contradicts": list(map(LinkedFact.of, fact.contradicts)),
    }


def _round_fields(record: Record) -> dict[str, Any]:
    said = record.round
    return {
        "object": "memory",
        "id": record.id,
        "session_id": said.session_id,
        "round_index": said.round_index,
        "session_date": print_instant(said.session_date),
        "user_text": said.user_text,
        "assistant_text": said.assistant_text,
        "enrichment": EnrichmentState.of(record),
        "corrected_at": print_instant(said.corrected_at) if said.corrected_at else None,
    }


def _found_fields(found: Recalled) -> dict[str, Any]:
    return {
        **_round_fields(found.record),
        "facts": list(map(KeptFact.of, found.record.facts)),
        "similarity": round(found.similarity, 6),
        "signals": {name: round(value, 6) for name, value in found.signals.items()},
        "reasons": list(map(SignalReason.of, found.reasons)),
    }
