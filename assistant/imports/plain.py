"""Conversations in plain JSON: an object with `messages`, or one message by itself.

This is also how the command sends what it read of other formats.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from assistant.chat.turns import Role
from assistant.imports.conversations import (
    TOOLS,
    ExportFormat,
    ImportedConversation,
    ImportedMessage,
    ImportedSession,
    digest,
    first_moment,
    objects,
    parts_text,
    text_of,
)

_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "gpt": Role.ASSISTANT,
}
_SESSIONS = ("session_id", "conversation_id", "thread_id", "chat_id")
_SPEAKERS = ("role", "speaker", "author", "from", "sender")
_TEXTS = ("content", "text", "message", "value")
_DATES = ("timestamp", "created_at", "createdAt", "date", "time", "create_time")


def fits(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("messages"), list) or (
        any(isinstance(item.get(name), str) for name in _SPEAKERS)
        and any(name in item for name in _TEXTS)
    )


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    """The conversation; messages by themselves with one `session_id` make one session. Raises
    `ValueError`."""
    began = first_moment(item, *_DATES)
    if "messages" not in item:
        message = _message(item)
        if message.at is None:
            raise ValueError("it has no date")
        named = text_of(item, *_SESSIONS)
        yield ImportedConversation(named or f"messages-{message.at:%Y-%m-%d}", [message])
        return
    messages = [_message(one) for one in objects(item["messages"])]
    opening = next((one for one in messages if one.is_kept), ImportedMessage(None))
    at = opening.at or began
    # A conversation that has grown still has the same opening, and so gets the same id.
    known_by = f"messages-{digest(at.isoformat() if at else '', opening.text)}"
    yield ImportedConversation(
        text_of(item, *_SESSIONS, "id") or known_by,
        messages,
        text_of(item, "title", "name"),
        began=began,
    )


def line_of(session: ImportedSession) -> str:
    """A session as a line of JSON, from which `read` makes the same session."""
    messages = [
        {
            "role": turn.role.value,
            "content": turn.text,
            "timestamp": turn.timestamp.isoformat(),
            "id": turn.caller_id,
            "name": turn.name,
        }
        for turn in session.turns
    ]
    body = {"session_id": session.session_id, "title": session.title, "messages": messages}
    return json.dumps(body, ensure_ascii=False)


def _message(one: Mapping[str, Any]) -> ImportedMessage:
    role = _ROLES.get(text_of(one, *_SPEAKERS).strip().lower())
    text = next((found for name in _TEXTS if (found := parts_text(one.get(name)))), "")
    return ImportedMessage(
        role,
        text,
        first_moment(one, *_DATES),
        id=text_of(one, "id", "message_id", "uuid") or None,
        left_out="" if role else TOOLS,
        name=text_of(one, "name") or None,
    )


FORMAT = ExportFormat("JSON", fits, read)
