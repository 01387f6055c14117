"""The items of a long list in JSON, one after the other.

While the interpreter reads JSON, nobody else has a turn. So long JSON is read a part at a time: the
members of a container that does not fit into a part are read one by one. Only the part is decoded,
because a single emoji makes the text of a whole export four times as large.
"""

import codecs
import json
import re
from collections.abc import Callable, Generator, Iterator
from typing import Any

MOST_VALUES = 2_000_000
"""Values in one item. A conversation of a thousand long messages has 30,000."""
# Sizes of a part in bytes, tried in turn; the longest is read in less than ten milliseconds.
_PARTS = (1 << 10, 1 << 13, 1 << 16)
_SPACES = re.compile(rb"[ \t\n\r]*")
_VALUES = (b"[", b"{", b",")
_DECODER = json.JSONDecoder()


def not_json(error: ValueError | RecursionError) -> str:
    """The fault of a text that is no JSON, in words."""
    match error:
        case json.JSONDecodeError():
            line = f"line {error.lineno}, " if "\n" in error.doc else ""
            return f"it is not JSON: {error.msg} at {line}character {error.colno}"
        case UnicodeDecodeError():
            return "it is not text in UTF-8"
        case RecursionError():
            return "it is nested too deeply"
    return f"it is not JSON: {error}"


class NoList(ValueError):
    """It is JSON, but no list."""


class TooManyValues(ValueError):
    """An item has more values than are read."""


def items_of(content: bytes) -> Iterator[Any]:
    """The items of a list. Raises `ValueError` where it is no JSON, or too deeply nested; `NoList`,
    `TooManyValues`."""
    content = content.removeprefix(codecs.BOM_UTF8)
    if (encoding := json.detect_encoding(content)) != "utf-8":
        content = content.decode(encoding).encode()
    place = _after_spaces(content, 0)
    if not content.startswith(b"[", place):
        _ValueReading(content).value(place)
        raise NoList("it is no list")
    end = yield from _members(content, place, lambda at: _ValueReading(content).value(at))
    _check_end(content, end)


def value_of(content: bytes) -> Any:
    """The one value of a text in UTF-8. Raises `ValueError` where it is no JSON, or too deeply
    nested; `TooManyValues`."""
    value, end = _ValueReading(content).value(_after_spaces(content, 0))
    _check_end(content, end)
    return value


class _ValueReading:
    """Reads one value, however long, within bounds on what that takes."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._left = MOST_VALUES

    def value(self, place: int) -> tuple[Any, int]:
        """The value that begins at `place`, and where it ends."""
        for size in _PARTS:
            try:
                value, end = _decoded(self._content, place, size)
            except json.JSONDecodeError:
                self._count(place, place + size)  # a try that fails has read the part, too
                if place + size >= len(self._content):
                    raise
                continue
            self._count(place, end)
            # A number may go on behind the part.
            if end < place + size or end == len(self._content):
                return value, end
        return self._long(place)

    def _count(self, begin: int, end: int) -> None:
        self._left -= 1 + sum(self._content.count(value, begin, end) for value in _VALUES)
        if self._left < 0:
            raise TooManyValues(f"has more than {MOST_VALUES} values")

    def _long(self, place: int) -> tuple[Any, int]:
        """A value that is longer than a part."""
        opening = self._content[place : place + 1]
        if opening == b'"':
            return self._string(place)
        if opening not in (b"[", b"{"):
            raise _wrong("Expecting value", self._content, place)
        found: list[Any] = []
        read = self.value if opening == b"[" else self._member
        members = _members(self._content, place, read)
        while True:
            try:
                found.append(next(members))
            except StopIteration as ended:
                return (found if opening == b"[" else dict(found)), ended.value

    def _string(self, place: int) -> tuple[str, int]:
        """A text, and where it ends. Longer and longer parts are tried until one holds it all."""
        size = _PARTS[0]
        while True:
            try:
                return _decoded(self._content, place, size)
            except json.JSONDecodeError:
                if place + size >= len(self._content):
                    raise
                size *= 8

    def _member(self, place: int) -> tuple[tuple[str, Any], int]:
        if not self._content.startswith(b'"', place):
            raise _wrong("Expecting property name", self._content, place)
        name, end = self._string(place)
        end = _after_spaces(self._content, end)
        if not self._content.startswith(b":", end):
            raise _wrong("Expecting ':' delimiter", self._content, end)
        value, end = self.value(_after_spaces(self._content, end + 1))
        return (name, value), end


_Read = Callable[[int], tuple[Any, int]]


def _members(content: bytes, place: int, read: _Read) -> Generator[Any, None, int]:
    """Yield the members of a container that begins at `place`; return where it ends."""
    closing = b"]" if content.startswith(b"[", place) else b"}"
    place = _after_spaces(content, place + 1)
    if content.startswith(closing, place):
        return place + 1
    while True:
        member, place = read(place)
        yield member
        place = _after_spaces(content, place)
        if content.startswith(closing, place):
            return place + 1
        if not content.startswith(b",", place):
            raise _wrong("Expecting ',' delimiter", content, place)
        place = _after_spaces(content, place + 1)


def _decoded(content: bytes, place: int, size: int) -> tuple[Any, int]:
    """The value that begins at `place` and ends within `size` bytes, and where it ends."""
    is_last = place + size >= len(content)
    # A part may end within a character.
    text, _ = codecs.utf_8_decode(content[place : place + size], "strict", is_last)
    value, end = _DECODER.raw_decode(text)
    return value, place + len(text[:end].encode())


def _after_spaces(content: bytes, place: int) -> int:
    found = _SPACES.match(content, place)
    return found.end() if found else place


def _check_end(content: bytes, end: int) -> None:
    if (rest := _after_spaces(content, end)) < len(content):
        raise _wrong("Extra data", content, rest)


def _wrong(fault: str, content: bytes, place: int) -> json.JSONDecodeError:
    text = content[:place].decode(errors="replace")
    return json.JSONDecodeError(fault, text, len(text))
