"""The lines of an export of ours: what they are, whether all are there, and exports of a part."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assistant.errors import AssistantError

_HEAD, _END = '{"format":', '{"records":'
# The version whose exports had no last line.
_WITHOUT_END = 1


class TornExport(AssistantError):
    """An export cannot be read to its end (the user acts)."""


def is_record(line: str) -> bool:
    """Whether a line of an export as the server writes it is a record: not its first or last."""
    return not line.startswith((_HEAD, _END))


@dataclass(frozen=True, slots=True)
class ExportLines:
    """A whole export: its first line, its records, and whether its last line counts them."""

    head: str
    records: list[str]
    is_counted: bool

    def pieces(self, most_bytes: int) -> Iterator[tuple[int, bytes]]:
        """Exports of at most so many bytes of records, or of one longer record; how many each has.
        At least one."""
        for records in packed(self.records, most_bytes):
            count = len(records)
            end = [json.dumps({"records": count})] if self.is_counted else []
            yield count, "\n".join([self.head, *records, *end]).encode()


def export_lines(export: bytes) -> ExportLines:
    """The lines of an export. Raises `TornExport` where it is cut off, or a line is no JSON."""
    try:
        lines = export.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise TornExport(f"cannot read the export: it is not UTF-8: {error.reason}") from error
    read = [_read(number, line) for number, line in enumerate(lines, start=1)]
    said = [(line, body) for line, body in zip(lines, read, strict=True) if line.strip()]
    (head, first), *rest = said or [("", {})]
    count = _count(rest[-1][1]) if rest else None
    records = [line for line, _ in (rest if count is None else rest[:-1])]
    may_lack_end = not isinstance(first, dict) or first.get("version") == _WITHOUT_END
    if count != len(records) and not (count is None and may_lack_end):
        told = "how many there are is missing" if count is None else f"there should be {count}"
        raise TornExport(f"the export is cut off: it ends after {len(records)} records, and {told}")
    return ExportLines(head, records, count is not None)


def packed(lines: Iterable[str], most_bytes: int) -> Iterator[list[str]]:
    """The lines in pieces of at most so many bytes, or of one longer line. At least one piece."""
    piece: list[str] = []
    size = 0
    for line in lines:
        length = len(line.encode()) + 1
        if piece and size + length > most_bytes:
            yield piece
            piece, size = [], 0
        piece.append(line)
        size += length
    yield piece


def _read(number: int, line: str) -> Any:
    try:
        return json.loads(line.strip() or "{}")
    except (ValueError, RecursionError) as error:
        raise TornExport(f"line {number} of the export cannot be read: {error}") from error


def _count(body: Any) -> int | None:
    """How many records a last line tells of; None where it is none."""
    if not isinstance(body, dict) or body.keys() != {"records"}:
        return None
    return body["records"] if isinstance(body["records"], int) else -1
