"""A conversation as a Markdown transcript: a heading or a bold line names each speaker.

The date stands beside the name, or in a line `Date: …` above the conversation.
"""

import re
from collections.abc import Iterator

from assistant.chat.turns import Role
from assistant.imports.conversations import ImportedConversation, ImportedMessage, digest, moment

_ASSISTANTS = "assistant|ai|bot|chatgpt|gpt|claude|gemini|copilot"
_USERS = "user|you|human|me"
# "## User", "**Assistant** (2025-03-04 10:00)", "User: and what is said".
_SPEAKER = re.compile(
    rf"^(?P<mark>\#{{1,6}}[ \t]+)?(?P<bold>\*\*|__)?(?:(?P<user>{_USERS})|(?P<other>{_ASSISTANTS}))"
    r"(?P<colon>:)?(?(bold)(?P=bold))(?P<after>:)?"
    r"[ \t]*[—–-]?[ \t]*[(\[_*]*(?P<at>\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^)\]_*\n]{0,25})?[)\]_*]*:?"
    r"[ \t]*(?P<said>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_DATE = re.compile(
    r"^[ \t>*_-]*(?:date|created|exported|started)[*_]*:[*_\s]*(\d{4}-\d\d-\d\d[^\n*_]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_TITLE = re.compile(r"^(?:#[ \t]+|title:[ \t]*)([^\n]+)$", re.IGNORECASE | re.MULTILINE)


def is_transcript(text: str) -> bool:
    """Whether user and assistant both speak in it."""
    roles = {role for role, _ in _speeches(text)}
    return len(roles) == len(Role)


def read(text: str) -> Iterator[ImportedConversation]:
    speeches = list(_speeches(text))
    head = text[: speeches[0][1].start()]
    dated, title = _DATE.search(head), _TITLE.search(head)
    began = moment(dated[1].strip()) if dated else None
    ends = [found.start() for _, found in speeches[1:]] + [len(text)]
    messages = []
    for place, ((role, found), end) in enumerate(zip(speeches, ends, strict=True)):
        said = _said(text, found, end)
        said_at = moment(found["at"].strip()) if found["at"] else None
        # A transcript has no ids. People repeat themselves, so the place is a part of the id.
        id = f"{place}:{digest(said)}"
        messages.append(ImportedMessage(role, said, said_at, id=id))
    at = messages[0].at or began
    if at is None:
        raise ValueError("it has no date: write a line “Date: 2025-03-04 10:00” above it")
    id = f"transcript-{digest(at.isoformat(), messages[0].text)}"
    yield ImportedConversation(id, messages, title[1].strip() if title else "", began=began)


def _speeches(text: str) -> Iterator[tuple[Role, re.Match[str]]]:
    are_marked = False
    for found in _SPEAKER.finditer(text):
        has_colon = found["colon"] or found["after"]
        # A bare word names a speaker only with a colon; a heading or a bold word also with a date
        # or with nothing else on the line.
        marked = found["mark"] or found["bold"]
        if (has_colon and not are_marked) or (
            marked and (has_colon or found["at"] or not found["said"])
        ):
            # Where speakers are marked, a bare word with a colon is a part of what is said.
            are_marked = are_marked or bool(marked)
            yield (Role.USER if found["user"] else Role.ASSISTANT), found


def _said(text: str, found: re.Match[str], end: int) -> str:
    return f"{found['said']}\n{text[found.end() : end]}".strip().removesuffix("---").strip()
