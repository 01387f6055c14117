"""What front ends say about themselves: their users and chats by header, and their own requests.

Open WebUI, LibreChat and others ask the model for titles, tags and follow-up questions. Such a
request looks like a chat that nobody had: it is neither answered from memory nor kept.
"""

import re
from collections.abc import Mapping

USER_HEADERS = ("x-openwebui-user-id", "x-litellm-end-user-id", "x-litellm-customer-id")
"""Headers that name the user. They are believed where the caller may speak for any user."""
SESSION_HEADERS = ("x-openwebui-chat-id", "x-litellm-session-id")
TASK_HEADERS = ("x-memory-task", "x-openwebui-task")
# A template that its front end did not fill.
_UNFILLED = re.compile(r"\{\{.*\}\}")
_NO_TASK = ("", "none", "null", "undefined", "chat")
# Open WebUI's own requests: a headed task over a quoted chat.
_HEADED_TASK = re.compile(r"###\s*Task:", re.I)
_QUOTED_CHAT = re.compile(r"<chat_history>|###\s*Chat History", re.I)
# LibreChat's requests, and others': for a conversation's title of few words or characters, or for
# its language and a title.
_ASKED = r"(?:please\s+)?(?:provide|generate|write|create|give)\b[^.\n]{0,60}"
_TITLE = re.compile(
    rf"{_ASKED}\b(?:\d+|three|four|five|six|seven|eight)[ -]words?\b[^.\n]{{0,40}}\btitle\b"
    r"[^.\n]{0,40}\b(?:conversation|chat)\b"
    rf"|{_ASKED}\btitle \(max[^)\n]{{0,30}}\)[^.\n]{{0,20}}\b(?:conversation|chat)\b"
    r"|analy[sz]e (?:this|the) conversation and provide:[^:]{0,120}\btitle\b"
    r"|detect user language and write\b[^.\n]{0,60}\btitle for (?:this|the) conversation"
    # The quoted chat alone, where the title is asked for in a system message before it.
    r"|\|\|>User:\s",
    re.I,
)


def header_text(headers: Mapping[str, str], name: str) -> str | None:
    """The text of a header. None where it is missing, or is a template that was not filled.

    It is read as UTF-8, as most clients send it, or where that fails as Latin-1, as HTTP has it.
    """
    value = headers.get(name)
    if value is None or _UNFILLED.fullmatch(value.strip()):
        return None
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def named(headers: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """The first of these headers that a front end filled."""
    for name in names:
        value = (header_text(headers, name) or "").strip()
        if value:
            return value
    return None


def is_task(headers: Mapping[str, str], text: str) -> bool:
    """Whether a front end asks for itself: as its header says, else by how the text begins."""
    task = named(headers, TASK_HEADERS)
    if task is not None:
        return task.lower() not in _NO_TASK
    asked = text.lstrip()
    if _HEADED_TASK.match(asked):
        return _QUOTED_CHAT.search(asked) is not None
    return _TITLE.match(asked) is not None
