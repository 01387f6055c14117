"""Replies of the Add/Search routes of leaderboards."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from assistant.api.replies import Instant, Reply
from assistant.api.replies.search import Rounded
from memory_store import Recalled, Round


class Added(Reply):
    """The messages of a request are kept, and can be searched."""

    success: Literal[True]
    request_id: str
    user_id: str
    session_id: str
    example: ClassVar[Mapping[str, Any]] = {
        "success": True,
        "request_id": "add-1",
        "user_id": "ann",
        "session_id": "leaderboard",
    }


class FoundText(Reply):
    """A round as one text. Whoever answers reads nothing else, so its date stands in it."""

    id: str
    content: str
    score: Rounded
    created_at: Instant
    example: ClassVar[Mapping[str, Any]] = {
        "id": "9e30fe08-285a-5010-9f14-df2aebb7e3ff",
        "content": "[2023-05-20 10:00]\nuser: I live in Ghent.\nassistant: A fine city.",
        "score": 0.773429,
        "created_at": "2023-05-20T10:00:00Z",
    }

    @classmethod
    def of_found(cls, found: Recalled) -> Self:
        """A round that was found."""
        round = found.record.round
        return cls(
            id=round.id,
            content=_text(round),
            score=found.similarity,
            created_at=round.session_date,
        )


def _text(round: Round) -> str:
    said = (
        (round.user_name or "user", round.user_text),
        (round.assistant_name or "assistant", round.assistant_text),
    )
    lines = [f"{who}: {text}" for who, text in said if text]
    return "\n".join([f"[{round.session_date:%Y-%m-%d %H:%M}]", *lines])


class Found(Reply):
    """What a search found, best first."""

    data: list[FoundText]
    example: ClassVar[Mapping[str, Any]] = {"data": [FoundText.example]}
