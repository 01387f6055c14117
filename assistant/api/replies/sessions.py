"""Replies about sessions."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from assistant.api.replies.base import Instant, Reply
from assistant.api.replies.memories import Forgotten, Memory
from assistant.dates import print_instant
from memory_store import EnrichmentFailure as FailedRound
from memory_store import Round, SessionSummary


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

    @classmethod
    def of(cls, summary: SessionSummary) -> Self:
        """Of the rounds of a session."""
        return cls(**{state.value: count for state, count in summary.enrichment.items()})


class TouchedRound(Reply):
    """A round that turns went into."""

    id: str
    round_index: int

    @classmethod
    def of(cls, round: Round) -> Self:
        """Which round it is."""
        return cls(id=round.id, round_index=round.round_index)


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

    @classmethod
    def of(cls, failed: FailedRound) -> Self:
        """Which round it is, and why."""
        return cls(
            id=failed.round_id,
            round_index=failed.round_index,
            state=failed.state.value,
            attempts=failed.attempts,
            reason=failed.failure,
        )


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

    @classmethod
    def of(cls, user_id: str, summary: SessionSummary) -> Self:
        """What is known of a user's session."""
        return cls(**_session_fields(user_id, summary))


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


def _session_fields(user_id: str, summary: SessionSummary) -> Mapping[str, Any]:
    return {
        "object": "session",
        "id": summary.session_id,
        "user_id": user_id,
        "started_at": print_instant(summary.started_at),
        "ended_at": print_instant(summary.ended_at),
        "rounds": summary.rounds,
        "opening": summary.opening,
        "days": [RoundsOfADay(day=day.isoformat(), rounds=n) for day, n in summary.days.items()],
        "enrichment": EnrichmentCounts.of(summary),
        "failures": list(map(EnrichmentFailure.of, summary.failures)),
    }
