"""What front ends say about themselves: their users and chats by header, and their own requests.

Open WebUI, LibreChat and others ask the model for titles, tags and follow-up questions, as chats
that nobody had. Those are neither answered from memory nor kept.
"""

import re
from collections.abc import Mapping

USER_HEADERS = ("x-openwebui-user-id", "x-litellm-end-user-id", "x-litellm-customer-id")
"""Believed where the caller may speak for any user."""
SESSION_HEADERS = ("x-openwebui-chat-id", "x-litellm-session-id")
TASK_HEADERS = ("x-memory-task", "x-openwebui-task")
# A template that its front end did not fill.
_UNFILLED = re.compile(r"\{\{.*\}\}")
_NO_TASK = ("", "none", "null", "undefined", "chat")
# Open WebUI's own requests: a headed task over a quoted chat.
_HEADED_TASK = re.compile(r"###\s*Task:", re.I)
_QUOTED_CHAT = re.compile(r"<chat_history>|###\s*Chat History", re.I)
# LibreChat's and others': a title wanted, of few words, for a conversation.
_TITLE = re.compile(
    r"(?:please\s+)?(?:provide|generate|write|create|give)\b[^.\n]{0,60}"
    r"\b(?:\d+|three|four|five|six|seven|eight)[ -]words?\b[^.\n]{0,40}\btitle\b"
    r"[^.\n]{0,40}\b(?:conversation|chat)\b",
    re.I,
)


def named(headers: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """The first of these headers that a front end filled."""
    for name in names:
        value = headers.get(name, "").strip()
        if value and not _UNFILLED.fullmatch(value):
            return value
    return None


def is_task(headers: Mapping[str, str], text: str) -> bool:
    """Whether a front end asks for itself: by its header first, else by how the text begins."""
    task = named(headers, TASK_HEADERS)
    if task is not None:
        return task.lower() not in _NO_TASK
    asked = text.lstrip()
    if _HEADED_TASK.match(asked):
        return _QUOTED_CHAT.search(asked) is not None
    return _TITLE.match(asked) is not None
