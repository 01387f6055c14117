"""Bodies of routes about sessions."""

from typing import Any, Literal

from pydantic import Field

from assistant.api.requests.base import Many, Request, SpeakerName, Time


class NewSession(Request):
    """`POST /v1/sessions`."""

    user_id: str | None = None
    session_id: str | None = None
    started_at: Time = None


class RecordedMessage(Request):
    """One turn that already happened."""

    role: Literal["user", "assistant"]
    content: str | Many[dict[str, Any]]
    timestamp: Time = None
    name: SpeakerName | None = None
    id: str | None = Field(default=None, min_length=1, max_length=256)


class RecordedMessages(Request):
    """`POST /v1/sessions/{session_id}/messages`."""

    user_id: str | None = None
    messages: Many[RecordedMessage]
    timestamp: Time = None
    wait: bool | None = None
    close: bool = False
