"""What a search found: values with the reasons of their rank."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator

from assistant.api.replies import Instant, Reply
from assistant.api.replies.memories import DayRange, KeptFact, Memory, MemoryBase
from assistant.chat.retriever import TIME_ALONE
from memory_store import Reason, Recalled, RecalledSession

Rounded = Annotated[float, AfterValidator(partial(round, ndigits=6))]
# Signals of words and meaning, and signals by which a round belongs to a question in another way.
_NEAR = ("dense", "words")
_BELONGS = ("replaces", "answers", "said_then", "happened_then")


class TimeAsked(DayRange):
    """The days that a question asks about, and the words that say so."""

    precision: str
    text: str


class QuestionUnderstood(Reply):
    """What read the question, and what it was searched by besides."""

    by: str
    queries: Any
    failure: str | None


class SignalReason(Reply):
    """What a signal added to a similarity, and what matched."""

    signal: str
    value: Rounded
    weight: float
    contribution: Rounded
    because: list[str]


class FoundMemory(MemoryBase):
    """A value that was found."""

    facts: list[KeptFact]
    similarity: Rounded
    signals: dict[str, Rounded]
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
    def of_found(cls, found: Recalled, **more: Any) -> Self:
        """A round with the reasons for which it was found."""
        reasons, signals = found.reasons, found.signals
        more |= {"similarity": found.similarity, "signals": signals, "reasons": reasons}
        return cls.of(found.record, **more)


class Hit(FoundMemory):
    """A value that a search found."""

    near: bool
    """Whether it is near enough to be shown to people, rather than merely the best there is."""
    example: ClassVar[Mapping[str, Any]] = {**FoundMemory.example, "near": True}

    @classmethod
    def from_floor(cls, floor: float, found: Recalled, **more: Any) -> Self:
        """A round that was found; from the `floor` on it is near."""
        return cls.of_found(found, near=_is_near(found.reasons, floor), **more)


def _is_near(reasons: Sequence[Reason], floor: float) -> bool:
    added = {reason.signal: reason.contribution for reason in reasons}
    nearness = sum(added.get(signal, 0.0) for signal in _NEAR)
    belongs = TIME_ALONE in added or any(added.get(signal) for signal in _BELONGS)
    return belongs or nearness >= floor


class FoundRound(Reply):
    """A round found in a session."""

    id: str
    round_index: int
    similarity: Rounded


class SessionHit(Hit):
    """A session by its best round, with every round of it that was found."""

    rounds: list[FoundRound]

    @classmethod
    def of_session(cls, floor: float, found: RecalledSession) -> Self:
        """A session that was found; its best round is the first."""
        rounds = [
            FoundRound.of(one.record.round, similarity=one.similarity) for one in found.rounds
        ]
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
