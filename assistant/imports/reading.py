"""What another assistant gave out, in whatever format, as sessions.

A format is found out by what each entry has, never by the name of a file. What cannot be read is
told with its place and reason; what is left out is counted by reason.
"""

import codecs
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain, islice
from typing import Any, NamedTuple

from assistant.chat.turns import Turn
from assistant.errors import InvalidRequest
from assistant.imports import (
    chatgpt,
    claude,
    gemini,
    letta,
    librechat,
    markdown,
    mem0,
    omp,
    openwebui,
    pam,
    plain,
    zep,
)
from assistant.imports.conversations import (
    ExportFormat,
    ImportedConversation,
    ImportedSession,
    keys_of,
    mapping,
    session_of,
    text_of,
)
from assistant.imports.fields import FieldsRead, most_frequent
from assistant.imports.json_items import (
    NoList,
    TooManyValues,
    items_of,
    not_json,
    value_of,
)
from assistant.imports.recognised import MOST_BYTES, files_of

_MOST_ENTRIES = 200_000
_MOST_TOLD = 1000
_SHOWN_NAME = 60
_TRIED = 50
_OTHER_FILES = "files of the archive that hold no conversations"
# Objects that hold entries in a list.
_LISTS = ("conversations", "results", "memories", "sessions", "threads", "facts", "edges",
          "messages", "chats", "data")  # fmt: skip


# Formats that are recognised by rarer fields come first.
FORMATS = (
    pam.FORMAT,
    omp.FORMAT,
    chatgpt.FORMAT,
    claude.FORMAT,
    openwebui.FORMAT,
    librechat.FORMAT,
    gemini.FORMAT,
    letta.FORMAT,
    mem0.FORMAT,
    zep.FORMAT,
    plain.FORMAT,
)
_MARKDOWN = "Markdown"


@dataclass(frozen=True, slots=True)
class Import:
    """What could be read of an export: its sessions, oldest first. `unreadable` says of each other
    entry why it could not, `left_out` counts what is not kept by reason, `formats` names what the
    export was found to be."""

    sessions: Sequence[ImportedSession]
    unreadable: Sequence[str]
    left_out: Mapping[str, int]
    formats: Sequence[str]
    fields_not_read: Mapping[str, int]
    """How often a field has something in it that no importer asks for, by its path."""

    def count_rounds(self) -> int:
        return sum(session.count_rounds() for session in self.sessions)


class _Transcript(str):
    """The text of a transcript. The type tells it from a text that stands in a list."""


class _Entry(NamedTuple):
    place: str
    item: Any


def read_export(export: bytes, *, most_bytes: int = MOST_BYTES) -> Import:
    """An export as far as it can be read. `most_bytes` is how much a zip file may hold when it is
    unpacked. Raises `InvalidRequest` where nothing of it can be read."""
    return _ExportReading().read(export, most_bytes)


class _ExportReading:
    def __init__(self) -> None:
        self._parts: dict[str, list[ImportedSession]] = {}
        self._left_out: Counter[str] = Counter()
        self._formats: dict[str, None] = {}
        self._fields: Counter[str] = Counter()
        self._owners: set[str] = set()
        self._unreadable: list[str] = []
        self._unread = 0
        self._entries = 0

    def read(self, export: bytes, most_bytes: int) -> Import:
        is_alone = not export.startswith(b"PK")
        for name, content in [("", export)] if is_alone else files_of(export, most_bytes, holds):
            if content is None:
                self._left_out[_OTHER_FILES] += 1
                continue
            for entry in _entries(content):
                self._add(name, entry)
        if self._unreadable and not self._parts:
            raise InvalidRequest(self._unreadable[0])
        if self._unread > len(self._unreadable):
            self._unreadable.append(f"and {self._unread - len(self._unreadable)} more entries")
        sessions = [_joined(parts) for parts in self._parts.values()]
        sessions = [session for session in sessions if session.turns]
        sessions.sort(key=lambda session: (session.turns[0].timestamp, session.session_id))
        return Import(
            sessions,
            self._unreadable,
            dict(self._left_out),
            list(self._formats),
            most_frequent(self._fields),
        )

    def _add(self, file: str, entry: _Entry) -> None:
        self._entries += 1
        if self._entries > _MOST_ENTRIES:
            raise InvalidRequest(f"the export has more than {_MOST_ENTRIES} entries")
        try:
            if isinstance(entry.item, Exception):
                raise entry.item
            item = FieldsRead(entry.item) if isinstance(entry.item, dict) else None
            name, conversations = _conversations(entry.item if item is None else item)
            # An entry is taken as a whole or not at all.
            found = list(conversations)
            left_out: Counter[str] = Counter()
            sessions = [session_of(one, left_out) for one in found]
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError,
                RecursionError) as error:  # fmt: skip
            self._cannot_read(file, entry, error)
            return
        self._formats[name] = None
        self._left_out += left_out
        self._fields += item.unread() if item else Counter()
        for session in sessions:
            self._parts.setdefault(session.session_id, []).append(session)
        self._check_owner({one.owner for one in found if one.owner})

    def _check_owner(self, owners: set[str]) -> None:
        self._owners |= owners
        if len(self._owners) > 1:
            named = ", ".join(sorted(self._owners)[:3])[: 3 * _SHOWN_NAME]
            raise InvalidRequest(
                f"the export holds what belongs to several users ({named}): export one user's"
            )

    def _cannot_read(self, file: str, entry: _Entry, error: Exception) -> None:
        self._unread += 1
        if len(self._unreadable) < _MOST_TOLD:
            title = " ".join(text_of(mapping(entry.item), "title", "name").split())[:_SHOWN_NAME]
            named = f" (“{title}”)" if title else ""
            place = f"{file[:_SHOWN_NAME]}, {entry.place}" if file else entry.place
            self._unreadable.append(f"{place}{named} cannot be read: {_why(error)}")


def _conversations(item: Any) -> tuple[str, Iterator[ImportedConversation]]:
    if isinstance(item, _Transcript):
        return _MARKDOWN, markdown.read(item)
    found = _format_of(item)
    if found is None:
        raise ValueError(f"it is no conversation of a known form: {keys_of(item)}")
    return found.name, found.read(item)


def _format_of(item: Any) -> ExportFormat | None:
    if not isinstance(item, Mapping):
        return None
    return next((one for one in FORMATS if one.fits(item)), None)


def holds(content: bytes) -> bool:
    """Whether a file begins with something that can be read."""
    try:
        first = islice(_entries(content), _TRIED)
        return any(isinstance(one.item, _Transcript) or _format_of(one.item) for one in first)
    except InvalidRequest:
        return False


def _entries(content: bytes) -> Iterator[_Entry]:
    """What may be read in one file. Raises `InvalidRequest`."""
    content = content.removeprefix(codecs.BOM_UTF8)
    beginning = content.lstrip()[:1]
    if beginning == b"[":
        yield from (_Entry(f"entry {n}", item) for n, item in enumerate(_listed(content), 1))
        return
    if beginning == b"{":
        yield from _objects(content)
        return
    text = utf8_text(content)
    if gemini.is_page(text):
        yield from (_Entry(f"activity {n}", item) for n, item in enumerate(gemini.items(text), 1))
    elif markdown.is_transcript(text):
        yield _Entry("the transcript", _Transcript(text))
    else:
        raise InvalidRequest("nothing that can be brought in is in it")


def _listed(content: bytes) -> Iterator[Any]:
    try:
        yield from items_of(content)
    except TooManyValues as error:
        raise InvalidRequest(f"an entry {error}", code="too_many_values") from error
    except (NoList, ValueError, RecursionError) as error:
        raise InvalidRequest(f"the export cannot be read: {not_json(error)}") from error


def _objects(content: bytes) -> Iterator[_Entry]:
    """Lines of JSON; or one object, which may hold its entries in a list."""
    _check_utf8(content)
    lines = ((n, line) for n, line in enumerate(BytesIO(content), 1) if line.strip())
    first = next(lines)
    second = next(lines, None)
    if second is not None and second[1].lstrip().startswith(b"{") and _is_value(first[1]):
        yield from (_line(n, line) for n, line in chain((first, second), lines))
        return
    try:
        item = value_of(content)
    except TooManyValues as error:
        raise InvalidRequest(f"the export {error}", code="too_many_values") from error
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"the export cannot be read: {not_json(error)}") from error
    found = _format_of(item)
    is_wrapped = found is None or (found.name == "JSON" and "session_id" not in item)
    held = next((item[name] for name in _LISTS if isinstance(item.get(name), list)), None)
    if held is None or not (is_wrapped and (found is None or _is_held(held))):
        yield _Entry("the export", item)
    else:
        yield from (_Entry(f"entry {n}", one) for n, one in enumerate(held, 1))


def _is_held(held: list[Any]) -> bool:
    """Whether the messages of an object are entries of another format, by the first of them."""
    found = _format_of(held[0]) if held else None
    return found is not None and found.name != "JSON"


def _is_value(line: bytes) -> bool:
    try:
        value_of(line)
    except (ValueError, RecursionError):
        return False
    return True


def _line(number: int, line: bytes) -> _Entry:
    try:
        return _Entry(f"line {number}", value_of(line))
    except TooManyValues as error:
        return _Entry(f"line {number}", ValueError(f"it {error}"))
    except (ValueError, RecursionError) as error:
        return _Entry(f"line {number}", ValueError(not_json(error)))


def _check_utf8(content: bytes) -> None:
    """Raise `InvalidRequest` where the content is not UTF-8. Decoded by lines, it takes little
    memory."""
    for number, line in enumerate(BytesIO(content), 1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise _no_text(number) from error


def utf8_text(content: bytes) -> str:
    """The text of a file. Raises `InvalidRequest` where it is none."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise _no_text(content.count(b"\n", 0, error.start) + 1) from error


def _no_text(line: int) -> InvalidRequest:
    return InvalidRequest(f"line {line} cannot be read: it is not text in UTF-8")


def _joined(parts: Sequence[ImportedSession]) -> ImportedSession:
    """One session from its parts, which follow each other by their dates."""
    if len(parts) == 1:
        return parts[0]
    spoken = sorted((one for one in parts if one.turns), key=lambda one: one.turns[0].timestamp)
    turns: dict[str, Turn] = {turn.id: turn for one in spoken for turn in one.turns}
    return replace(parts[0], turns=tuple(turns.values()))


def _why(error: Exception) -> str:
    """The fault of an entry, without the words of the interpreter."""
    match error:
        case KeyError():
            return f"something in it has no {error}"
        case RecursionError():
            return "it is nested too deeply"
        case AttributeError() | TypeError():
            return "something in it is of another kind than in such exports"
    return str(error)
