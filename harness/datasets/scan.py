"""Where each question of a very large LongMemEval file begins, found without parsing the file.

Looks for the keys `"question_id"` and `"question_type"` among the raw bytes. Inside a JSON string a
quote is always escaped, so such a token after an unescaped quote and before a colon is a key.
"""

import json
import re
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from harness.datasets.dataset import Gradual
from harness.errors import DatasetError, raising
from harness.records.digest import QuestionDigest

_CHUNK = 1 << 20
# Longer than any key with its value; so much of a chunk is searched again with the next one.
_OVERLAP = 1 << 12
_KEY = b'"question_'
_FIELD = re.compile(rb'"question_(id|type)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_OPENING = re.compile(rb"\{\s*$")


class Extent(NamedTuple):
    """One question and the bytes of its record: from `begin` up to `end`, or to the file's end."""

    question_id: str
    question_type: str
    begin: int
    end: int | None


class AnotherOrder(ValueError):
    """A record does not begin with its id and type: this file must be read whole."""


def wanted(extents: Gradual[Extent], ids: Collection[str]) -> Iterator[tuple[int, Extent]]:
    """Yield the places of the questions of these ids, each with its number. Ends with the last of
    them, so that the rest of the file need not be scanned yet.
    """
    left = len(ids)
    for number, extent in enumerate(extents):
        if extent.question_id in ids:
            yield number, extent
            left -= 1
            if not left:
                return


def scan(path: Path) -> Iterator[Extent]:
    """All questions in file order, each as soon as the next one is found.

    Raises `AnotherOrder` at the first record that is not made as expected, `DatasetError` where the
    file cannot be read.
    """
    found = _LastRecord()
    with raising(DatasetError, f"{path}: cannot be read"), path.open("rb") as file:
        begin, rest = 0, b""
        while chunk := file.read(_CHUNK):
            text = rest + chunk
            yield from found.look(text, begin, last=False)
            keep = min(len(text), _OVERLAP)
            begin, rest = begin + len(text) - keep, text[-keep:]
        yield from found.look(rest, begin, last=True)
    yield found.last()


def read_extent(path: Path, extent: Extent, number: int) -> dict[str, Any]:
    """The record of the `number`th question; `DatasetError` where it is damaged or another one."""
    with path.open("rb") as file:
        file.seek(extent.begin)
        text = file.read(-1 if extent.end is None else extent.end - extent.begin)
    try:
        record, _ = json.JSONDecoder().raw_decode(text.decode("utf-8"))
    except ValueError as error:
        raise DatasetError(f"{path}: not JSON at record {number}: {error}") from error
    if not isinstance(record, dict) or record.get("question_id") != extent.question_id:
        raise DatasetError(f"{path}: record {number} is not what its first key says")
    return record


class _LastRecord:
    """The record found last; `_done` is the place of the first byte not yet searched."""

    def __init__(self) -> None:
        self._id: tuple[str, int] | None = None
        self._type: str | None = None
        self._done = 0

    def look(self, text: bytes, begin: int, *, last: bool) -> Iterator[Extent]:
        """Search a piece of the file for keys; yields the records that end in it."""
        limit = len(text) if last else max(0, len(text) - _OVERLAP // 2)
        at = text.find(_KEY, max(0, self._done - begin))
        while 0 <= at < limit:
            match = _FIELD.match(text, at)
            if match and text[at - 1 : at] != b"\\":
                yield from self._take(match, text, begin)
            at = text.find(_KEY, match.end() if match else at + 1)
        self._done = begin + limit

    def last(self) -> Extent:
        return self._ended(None)

    def _take(self, match: re.Match[bytes], text: bytes, begin: int) -> Iterator[Extent]:
        value = json.loads(b'"' + match[2] + b'"')
        if match[1] == b"type":
            if self._id is None or self._type is not None:
                raise AnotherOrder
            self._type = value
            return
        opening = _OPENING.search(text, max(0, match.start() - 64), match.start())
        if opening is None:
            raise AnotherOrder
        place = begin + opening.start()
        if self._id is not None:
            yield self._ended(place)
        self._id, self._type = (value, place), None

    def _ended(self, end: int | None) -> Extent:
        if self._id is None or self._type is None:
            raise AnotherOrder
        return Extent(self._id[0], self._type, self._id[1], end)


def found_in(file: Path) -> Iterator[Extent] | None:
    """The places of all questions as they are found, None for a file that must be read whole."""
    extents = scan(file)
    try:
        first = next(extents)
    except AnotherOrder:
        return None
    return _distinct(chain([first], extents), file)


def _distinct(extents: Iterator[Extent], file: Path) -> Iterator[Extent]:
    seen: set[str] = set()
    try:
        for extent in extents:
            if extent.question_id in seen:
                raise DatasetError(f"{file}: question_id {extent.question_id!r} occurs twice")
            seen.add(extent.question_id)
            yield extent
    except AnotherOrder as error:
        raise DatasetError(
            f"{file}: after {len(seen)} questions a record does not begin with question_id and "
            "question_type, as those before it do: compress the file (.gz) so that it is "
            "read as a whole"
        ) from error


def unread(extent: Extent) -> QuestionDigest:
    return QuestionDigest(
        question_id=extent.question_id,
        question_type=extent.question_type,
        is_abstention=extent.question_id.endswith("_abs"),
        history_id=extent.question_id,
        is_read=False,
    )
