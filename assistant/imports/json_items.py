"""The items of a long list in JSON, one after the other.

While the interpreter reads JSON nobody else has a turn. So what is long is read a part at a time:
of a container that does not fit into a part, its members are read one by one.
"""

import json
import re
from collections.abc import Callable, Generator, Iterator
from typing import Any

MOST_VALUES = 2_000_000
"""Values in one item. A conversation of a thousand long messages has 30,000."""
# Characters of the text that are tried at once; the longest piece is read in less than ten
# milliseconds.
_PARTS = (1 << 10, 1 << 13, 1 << 16)
_SPACES = re.compile(r"[ \t\n\r]*")
_VALUES = ("[", "{", ",")
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
    text = content.decode(json.detect_encoding(content))
    place = _after_spaces(text, 0)
    if not text.startswith("[", place):
        _ValueReading(text).value(place)
        raise NoList("it is no list")
    end = yield from _members(text, place, lambda at: _ValueReading(text).value(at))
    if _after_spaces(text, end) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)


def value_of(text: str) -> Any:
    """The one value of a text. Raises `ValueError` where it is no JSON, or too deeply nested;
    `TooManyValues`."""
    value, end = _ValueReading(text).value(_after_spaces(text, 0))
    if _after_spaces(text, end) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


class _ValueReading:
    """Reads one value, however long, within bounds on what that takes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = MOST_VALUES

    def value(self, place: int) -> tuple[Any, int]:
        """The value that begins there, and where it ends."""
        for size in _PARTS:
            part = self._text[place : place + size]
            try:
                value, end = _DECODER.raw_decode(part)
            except json.JSONDecodeError:
                self._count(part)  # it was read, too
                if place + size >= len(self._text):
                    raise
                continue
            self._count(part[:end])
            # A number may go on behind the part.
            if end < len(part) or place + end == len(self._text):
                return value, place + end
        return self._long(place)

    def _count(self, read: str) -> None:
        self._left -= 1 + sum(map(read.count, _VALUES))
        if self._left < 0:
            raise TooManyValues(f"has more than {MOST_VALUES} values")

    def _long(self, place: int) -> tuple[Any, int]:
        """A value that is longer than a part."""
        opening = self._text[place]
        if opening == '"':
            return _DECODER.raw_decode(self._text, place)
        if opening not in "[{":
            raise json.JSONDecodeError("Expecting value", self._text, place)
        found: list[Any] = []
        read = self.value if opening == "[" else self._member
        members = _members(self._text, place, read)
        while True:
            try:
                found.append(next(members))
            except StopIteration as ended:
                return (found if opening == "[" else dict(found)), ended.value

    def _member(self, place: int) -> tuple[tuple[str, Any], int]:
        if not self._text.startswith('"', place):
            raise json.JSONDecodeError("Expecting property name", self._text, place)
        name, end = _DECODER.raw_decode(self._text, place)
        end = _after_spaces(self._text, end)
        if not self._text.startswith(":", end):
            raise json.JSONDecodeError("Expecting ':' delimiter", self._text, end)
        value, end = self.value(_after_spaces(self._text, end + 1))
        return (name, value), end


_Read = Callable[[int], tuple[Any, int]]


def _members(text: str, place: int, read: _Read) -> Generator[Any, None, int]:
    """The members of a container that begins there; returns where it ends."""
    closing = "]" if text[place] == "[" else "}"
    place = _after_spaces(text, place + 1)
    if text.startswith(closing, place):
        return place + 1
    while True:
        member, place = read(place)
        yield member
        place = _after_spaces(text, place)
        if text.startswith(closing, place):
            return place + 1
        if not text.startswith(",", place):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, place)
        place = _after_spaces(text, place + 1)


def _after_spaces(text: str, place: int) -> int:
    found = _SPACES.match(text, place)
    return found.end() if found else place
