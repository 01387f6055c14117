"""Replies about sessions."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import AliasChoices, Field

from assistant.api.replies import Instant, Reply
from assistant.api.replies.memories import BRUGES_ID, GHENT, GHENT_ID, Memory, StateWord
from assistant.api.replies.receipts import Receipted
from memory_store import SessionSummary, whose


class OpenedSession(Reply):
    """A session that was named."""

    object: Literal["session"]
    id: str
    user_id: str
    space: str | None
    started_at: Instant
    example: ClassVar[Mapping[str, Any]] = {
        "object": "session",
        "id": "spring",
        "user_id": "ann",
        "space": None,
        "started_at": "2023-05-20T10:00:00Z",
    }


class EnrichmentCounts(Reply):
    """How many rounds are how far."""

    pending: int
    done: int
    failed: int

    @classmethod
    def of_session(cls, summary: SessionSummary) -> Self:
        return cls(**{state.value: count for state, count in summary.enrichment.items()})


class TouchedRound(Reply):
    """A round that turns went into."""

    id: str
    round_index: int


class RecordedTurns(Receipted):
    """How many turns were new, and the rounds they are in."""

    object: Literal["session.messages"]
    session_id: str
    user_id: str
    space: str | None
    recorded: int
    known: int
    enrichment: EnrichmentCounts | None
    rounds: list[TouchedRound]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "session.messages",
        "session_id": "spring",
        "user_id": "ann",
        "space": None,
        "recorded": 4,
        "known": 0,
        "rounds": [{"id": GHENT_ID, "round_index": 0}, {"id": BRUGES_ID, "round_index": 1}],
        "enrichment": None,
    }


class EnrichmentFailure(Reply):
    """A round whose last extraction failed."""

    id: str = Field(validation_alias=AliasChoices("id", "round_id"))
    round_index: int
    state: StateWord
    attempts: int
    reason: str = Field(validation_alias=AliasChoices("reason", "failure"))


class RoundsOfADay(Reply):
    """How many rounds of a session were said on a day."""

    day: str
    rounds: int


class Session(OpenedSession):
    """A session without its rounds."""

    ended_at: Instant
    rounds: int
    title: str | None
    opening: str
    days: list[RoundsOfADay]
    labels: dict[str, str | int | float | bool]
    """What all its rounds are labelled with."""
    enrichment: EnrichmentCounts
    failures: list[EnrichmentFailure]
    example: ClassVar[Mapping[str, Any]] = {
        **OpenedSession.example,
        "ended_at": "2023-05-27T10:00:00Z",
        "rounds": 2,
        "title": None,
        "opening": "I live in Ghent.",
        "days": [{"day": "2023-05-20", "rounds": 1}, {"day": "2023-05-27", "rounds": 1}],
        "labels": {},
        "enrichment": {"pending": 0, "done": 2, "failed": 0},
        "failures": [],
    }

    @classmethod
    def of_user(cls, user_id: str, summary: SessionSummary, **more: Any) -> Self:
        """What is known of a session of this user."""
        return cls.of(
            summary,
            object="session",
            id=summary.session_id,
            **whose(user_id)._asdict(),
            title=summary.title or None,
            days=[RoundsOfADay(day=day.isoformat(), rounds=n) for day, n in summary.days.items()],
            enrichment=EnrichmentCounts.of_session(summary),
            **more,
        )


class SessionWithRounds(Session):
    """A session and its rounds in order."""

    data: list[Memory]
    example: ClassVar[Mapping[str, Any]] = {**Session.example, "data": [GHENT, Memory.example]}


class SessionList(Reply):
    """Every session of a user."""

    object: Literal["list"]
    data: list[Session]
    example: ClassVar[Mapping[str, Any]] = {"object": "list", "data": [Session.example]}
