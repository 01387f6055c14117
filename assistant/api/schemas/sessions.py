"""Replies about sessions."""

from typing import Literal

from assistant.api.schemas.base import Instant, Reply
from assistant.api.schemas.memories import Forgotten, Memory


class OpenedSession(Reply):
    """A session that was named."""

    object: Literal["session"]
    id: str
    user_id: str
    started_at: Instant


class EnrichmentCounts(Reply):
    """How many rounds are how far."""

    pending: int
    done: int
    failed: int


class TouchedRound(Reply):
    """A round that turns went into."""

    id: str
    round_index: int


class RecordedTurns(Reply):
    """How many turns were new, and the rounds they are in."""

    object: Literal["session.messages"]
    session_id: str
    user_id: str
    recorded: int
    known: int
    rounds: list[TouchedRound]
    enrichment: EnrichmentCounts | None


class EnrichmentFailure(Reply):
    """A round whose last extraction failed."""

    id: str
    round_index: int
    state: Literal["pending", "done", "failed"]
    attempts: int
    reason: str


class RoundsOfADay(Reply):
    """How many rounds of a session were said on a day."""

    day: str
    rounds: int


class Session(OpenedSession):
    """A session without its rounds."""

    ended_at: Instant
    rounds: int
    opening: str
    days: list[RoundsOfADay]
    enrichment: EnrichmentCounts
    failures: list[EnrichmentFailure]


class SessionWithRounds(Session):
    """A session and its rounds in order."""

    data: list[Memory]


class SessionList(Reply):
    """Every session of a user."""

    object: Literal["list"]
    data: list[Session]


class ForgottenSession(Forgotten):
    """A session that went."""

    object: Literal["session.deleted"]
    id: str
    deleted: bool
