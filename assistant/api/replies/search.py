"""What a search found: values with the reasons of their rank."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from assistant.api.replies import Instant, Reply
from assistant.api.replies.memories import DayRange, KeptFact, Memory, MemoryBase
from assistant.chat.retriever import TIME_ALONE, Understanding
from memory_store import Reason, Recalled, RecalledSession, TimeRange

_DIGITS = 6
# What is near by its words and meaning, and what belongs to what is asked by another way.
_NEAR = ("dense", "words")
_BELONGS = ("replaces", "answers", "said_then", "happened_then")


class TimeAsked(DayRange):
    """The days that a question asks about, and the words that say so."""

    precision: str
    text: str

    @classmethod
    def of_question(cls, found: TimeRange | None) -> Self | None:
        """The time that was found in a question, if any."""
        if found is None:
            return None
        days = found.days
        return cls(first=days.first, last=days.last, precision=found.precision, text=found.text)


class QuestionUnderstood(Reply):
    """What read the question, and what it was searched by besides."""

    by: str
    queries: Any
    failure: str | None

    @classmethod
    def of(cls, read: Understanding) -> Self:
        return cls(by=read.by, queries=read.queries, failure=read.failure)


class SignalReason(Reply):
    """What a signal added to a similarity, and what matched."""

    signal: str
    value: float
    weight: float
    contribution: float
    because: list[str]

    @classmethod
    def of(cls, reason: Reason) -> Self:
        return cls(
            signal=reason.signal,
            value=round(reason.value, _DIGITS),
            weight=reason.weight,
            contribution=round(reason.contribution, _DIGITS),
            because=list(reason.because),
        )


class FoundMemory(MemoryBase):
    """A value that was found."""

    facts: list[KeptFact]
    similarity: float
    signals: dict[str, float]
    reasons: list[SignalReason]
    example: ClassVar[Mapping[str, Any]] = {
        **Memory.example,
        "similarity": 0.773429,
        "signals": {"dense": 0.0, "replaces": 0.773429},
        "reasons": [
            {
                "signal": "replaces",
                "value": 0.773429,
                "weight": 1.0,
                "contribution": 0.773429,
                "because": ["I live in Ghent."],
            }
        ],
    }

    @classmethod
    def of(cls, found: Recalled, **more: Any) -> Self:
        return cls.of_round(
            found.record,
            facts=[KeptFact.of(fact) for fact in found.record.facts],
            similarity=round(found.similarity, _DIGITS),
            signals={name: round(value, _DIGITS) for name, value in found.signals.items()},
            reasons=[SignalReason.of(reason) for reason in found.reasons],
            **more,
        )


class Hit(FoundMemory):
    """A value that a search found."""

    near: bool
    """Whether it is near enough to be shown to people, rather than merely the best there is."""
    example: ClassVar[Mapping[str, Any]] = {**FoundMemory.example, "near": True}

    @classmethod
    def from_floor(cls, floor: float, found: Recalled, **more: Any) -> Self:
        """A round that was found; from the `floor` on it is near."""
        return cls.of(found, near=_is_near(found.reasons, floor), **more)


def _is_near(reasons: Sequence[Reason], floor: float) -> bool:
    added = {reason.signal: reason.contribution for reason in reasons}
    nearness = sum(added.get(signal, 0.0) for signal in _NEAR)
    belongs = TIME_ALONE in added or any(added.get(signal) for signal in _BELONGS)
    return belongs or nearness >= floor


class FoundRound(Reply):
    """A round found in a session."""

    id: str
    round_index: int
    similarity: float

    @classmethod
    def of(cls, found: Recalled) -> Self:
        return cls(
            id=found.record.id,
            round_index=found.record.round.round_index,
            similarity=round(found.similarity, _DIGITS),
        )


class SessionHit(Hit):
    """A session by its best round, with every round of it that was found."""

    rounds: list[FoundRound]

    @classmethod
    def of_session(cls, floor: float, found: RecalledSession) -> Self:
        """A session that was found; its best round is the first."""
        rounds = [FoundRound.of(one) for one in found.rounds]
        return cls.from_floor(floor, found.rounds[0], rounds=rounds)


class SearchResult(Reply):
    """Ranked values, best first."""

    object: Literal["list"]
    query: str
    now: Instant
    understanding: QuestionUnderstood
    time_range: TimeAsked | None
    time_fell_back: bool
    """Whether memory is filtered by time and nothing was said then, so that all of it counts."""
    unit: Literal["round", "session"]
    steps: list[str]
    """What was done one after the other, by designs that do not find all at once."""
    timings: dict[str, float]
    data: list[Hit] | list[SessionHit]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "list",
        "query": "Where did I live last month?",
        "now": "2023-06-10T09:00:00Z",
        "understanding": {"by": "rule", "queries": [], "failure": None},
        "time_range": {
            "first": "2023-05-01",
            "last": "2023-05-31",
            "precision": "month",
            "text": "last month",
        },
        "time_fell_back": False,
        "unit": "round",
        "steps": [],
        "timings": {"embed_ms": 0.69, "search_ms": 8.254, "total_ms": 8.944},
        "data": [Hit.example],
    }
