"""Bodies of the Add/Search routes of leaderboards."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from assistant.api.requests import Many, OfUser, Request

# Later moments have years of five digits.
_LAST_MILLISECOND = 250_000_000_000_000


class BoardMessage(Request):
    """One message; its time is in milliseconds since 1970."""

    role: Literal["user", "assistant"]
    content: str
    timestamp: float | None = Field(default=None, ge=0, le=_LAST_MILLISECOND)

    @property
    def moment(self) -> str | None:
        """The time as other routes are told it."""
        if self.timestamp is None:
            return None
        return datetime.fromtimestamp(self.timestamp / 1000, UTC).isoformat()


class AddRequest(OfUser):
    """`POST /leaderboard/add`."""

    request_id: str = Field(min_length=1)
    session_id: str = Field(min_length=1)
    messages: Many[BoardMessage] = Field(min_length=1)
    example: ClassVar[Mapping[str, Any]] = {
        "request_id": "add-1",
        "user_id": "ann",
        "session_id": "leaderboard",
        "messages": [
            {"role": "user", "content": "I play the viola.", "timestamp": 1685610000000},
            {"role": "assistant", "content": "How lovely.", "timestamp": 1685610001000},
        ],
    }


class BoardSearch(OfUser):
    """`POST /leaderboard/search`."""

    query: str = Field(min_length=1)
    top_k: int = Field(default=10, ge=1, le=1000)
    example: ClassVar[Mapping[str, Any]] = {
        "user_id": "ann",
        "query": "Where did I live last month?",
        "top_k": 1,
    }
