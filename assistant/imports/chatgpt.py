"""A ChatGPT data export as sessions: `conversations.json`, or the zip file that holds it.

A conversation is a tree of messages; what the user last saw is the path that ends at its
`current_node`. Branches beside it, hidden messages, and those of systems and tools are left out.
"""

import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from assistant.characters import whole_characters, wrong_with_id
from assistant.conversation import Role, Turn
from assistant.errors import InvalidRequest
from assistant.imports.json_items import NoList, TooManyValues, items_of, not_json
from assistant.imports.recognised import ACCEPTED
from memory_store import as_title

_FILES = re.compile(r"(?:.*/)?conversations(?:[-_]\d+)?\.json")
_TEXTS = ("text", "multimodal_text")
_MOST_BYTES = 2**31
_PREFIX = "chatgpt-"
_MOST_CONVERSATIONS = 200_000
_CIRCLE = "its messages go round in a circle"
_SHOWN_NAMES, _SHOWN_NAME = 3, 60
_UNNAMED = "New chat"
# What reading a damaged, locked or unusual zip file raises, by what is wrong in which part of it.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ValueError,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
)
_MOST_TOLD = 1000


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """One conversation: the turns that were seen, in order, each with its own time and id.

    Recording them again in the same session changes nothing, because turns are known by their ids.
    """

    session_id: str
    turns: tuple[Turn, ...]
    title: str = ""

    def count_rounds(self) -> int:
        """How many rounds its turns make."""
        led_by_assistant = bool(self.turns) and self.turns[0].role is Role.ASSISTANT
        return sum(turn.role is Role.USER for turn in self.turns) + led_by_assistant


@dataclass(frozen=True, slots=True)
class ChatGptExport:
    """What could be read of an export: its sessions, oldest first; conversations without a turn are
    left out. `unreadable` says of each other conversation why it could not."""

    sessions: Sequence[ImportedSession]
    unreadable: Sequence[str]

    def count_rounds(self) -> int:
        """How many rounds its sessions make."""
        return sum(session.count_rounds() for session in self.sessions)


def read_chatgpt(export: bytes, *, most_bytes: int = _MOST_BYTES) -> ChatGptExport:
    """An export as far as it can be read.

    `most_bytes` is how much a zip file may hold when it is unpacked. Raises `InvalidRequest` where
    nothing of it can be read.
    """
    found: list[ImportedSession] = []
    unreadable: list[str] = []
    unread = 0
    for number, conversation in enumerate(read_conversations(export, most_bytes), start=1):
        try:
            found.append(read_session(conversation))
        except ValueError as why:
            unread += 1
            if len(unreadable) < _MOST_TOLD:
                title = _title(conversation)[:_SHOWN_NAME]
                named = f" (“{title}”)" if title else ""
                unreadable.append(f"conversation {number}{named} cannot be read: {why}")
    if unreadable and not found:
        raise InvalidRequest(unreadable[0])
    if unread > len(unreadable):
        unreadable.append(f"and {unread - len(unreadable)} more conversations")
    sessions = [session for session in found if session.turns]
    sessions.sort(key=lambda session: (session.turns[0].timestamp, session.session_id))
    return ChatGptExport(sessions, unreadable)


def read_conversations(export: bytes, most_bytes: int = _MOST_BYTES) -> Iterator[Any]:
    """The conversations as the export has them. Raises `InvalidRequest`."""
    for text in _files(export, most_bytes):
        try:
            for number, item in enumerate(items_of(text)):
                if number == _MOST_CONVERSATIONS:
                    raise InvalidRequest(
                        f"the export has more than {_MOST_CONVERSATIONS} conversations"
                    )
                yield item
        except TooManyValues as error:
            raise InvalidRequest(f"a conversation {error}", code="too_many_values") from error
        except NoList as error:
            raise InvalidRequest(
                "conversations.json must be a list of conversations: […]"
            ) from error
        except (ValueError, RecursionError) as error:
            raise InvalidRequest(f"the export cannot be read: {not_json(error)}") from error


def _files(export: bytes, most_bytes: int) -> Iterator[bytes]:
    if not export.startswith(b"PK"):
        yield export
        return
    try:
        with zipfile.ZipFile(io.BytesIO(export)) as archive:
            files = sorted(
                (f for f in archive.infolist() if _FILES.fullmatch(f.filename)),
                key=lambda f: f.filename,
            )
            if not files:
                raise InvalidRequest(
                    f"this is not {ACCEPTED}: the zip file holds {_named(archive.namelist())}"
                )
            if sum(f.file_size for f in files) > most_bytes:
                raise InvalidRequest(f"the zip file holds more than {most_bytes} bytes")
            for file in files:
                yield archive.read(file)
    except _DAMAGED as error:
        raise InvalidRequest(
            f"the zip file cannot be read: it is damaged, incomplete or locked ({error})"
        ) from error


def _named(files: Sequence[str]) -> str:
    """Some of the files, to be recognised by."""
    shown = ", ".join(name[:_SHOWN_NAME] for name in files[:_SHOWN_NAMES]) or "nothing"
    return shown if len(files) <= _SHOWN_NAMES else f"{shown} and {len(files) - _SHOWN_NAMES} more"


def read_session(conversation: Any) -> ImportedSession:
    """One conversation. Raises `ValueError` that says why it cannot be read."""
    try:
        session_id = f"{_PREFIX}{_id(conversation)}"
        if not isinstance(conversation.get("mapping"), Mapping):
            raise ValueError(
                f"not a ChatGPT conversation (it has no mapping): {_keys(conversation)}"
            )
        title = as_title(whole_characters(_title(conversation)))
        return ImportedSession(session_id, tuple(_turns(conversation)), title)
    except (KeyError, TypeError, AttributeError, OverflowError, OSError) as error:
        raise ValueError(_why(error)) from error


def _id(conversation: Any) -> str:
    id = conversation.get("conversation_id") or conversation.get("id")
    if not isinstance(id, str) or not id.strip():
        raise ValueError("it has no id")
    if wrong := wrong_with_id(f"{_PREFIX}{id}"):
        raise ValueError(f"its id {wrong}")
    return id


def _title(conversation: Any) -> str:
    """What ChatGPT or the user named it; empty where nobody did."""
    title = conversation.get("title") if isinstance(conversation, Mapping) else None
    return title if isinstance(title, str) and title.strip() not in ("", _UNNAMED) else ""


def _why(error: Exception) -> str:
    """What is wrong with a conversation, without the words of the interpreter."""
    if isinstance(error, KeyError):
        return f"something in it has no {error}"
    if isinstance(error, (AttributeError, TypeError)):
        return "something in it is of another kind than in ChatGPT's exports"
    return str(error)


def _keys(conversation: Mapping[str, Any]) -> str:
    return "it has " + ", ".join(sorted(str(key)[:_SHOWN_NAME] for key in conversation)[:8])


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    """The turns that were seen. A message without a time has that of the one before it."""
    at = conversation.get("create_time")
    for message in _path(conversation["mapping"], conversation.get("current_node")):
        text = _seen_text(message)
        at = message.get("create_time") or at
        if text is None:
            continue
        if at is None:
            raise ValueError("it has no date")
        role = Role(message["author"]["role"])
        yield Turn(role, text, datetime.fromtimestamp(at, UTC), caller_id=message["id"])


def _path(nodes: Mapping[str, Any], last: str | None) -> Sequence[Mapping[str, Any]]:
    """The messages from the root to this node, or to the newest leaf where it is not there; of a
    branch that was torn off, what is left of it."""
    name = last if last in nodes else _newest_leaf(nodes)
    path: list[Mapping[str, Any]] = []
    passed: set[str] = set()
    while name is not None and name in nodes:
        if name in passed:
            raise ValueError(_CIRCLE)
        passed.add(name)
        if message := nodes[name].get("message"):
            path.append(message)
        name = nodes[name].get("parent")
    return path[::-1]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    leaves = [
        name
        for name, node in nodes.items()
        if not any(child in nodes for child in node.get("children") or ())
    ]
    if nodes and not leaves:
        raise ValueError(_CIRCLE)
    return max(leaves, key=lambda name: (_said_at(nodes[name]), name), default=None)


def _said_at(node: Mapping[str, Any]) -> float:
    return float((node.get("message") or {}).get("create_time") or 0.0)


def _seen_text(message: Mapping[str, Any]) -> str | None:
    """What user or assistant said to the other; None for anything else."""
    if message["author"]["role"] not in list(Role):
        return None
    if (message.get("metadata") or {}).get("is_visually_hidden_from_conversation"):
        return None
    content = message.get("content") or {}
    if message.get("recipient") not in (None, "all") or content.get("content_type") not in _TEXTS:
        return None
    texts = [_part_text(part) for part in content.get("parts") or ()]
    return "\n".join(text for text in texts if text.strip()) or None


def _part_text(part: Any) -> str:
    """The text of a part: written, or spoken and transcribed. Pictures and files have none."""
    if isinstance(part, Mapping):
        part = part.get("text")
    return whole_characters(part) if isinstance(part, str) else ""
