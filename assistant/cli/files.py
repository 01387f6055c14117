"""Files that commands read and write: exports of a memory, and what is saved."""

import io
import json
import os
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from assistant.cli.console import memories
from assistant.errors import AssistantError
from assistant.imports.json_items import not_json

if TYPE_CHECKING:
    from assistant.cli.memory_calls import MemoryCalls
    from memory_store.transfer import Progress

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
        line = export.count(b"\n", 0, error.start) + 1
        raise TornExport(f"line {line} cannot be read: it is not text in UTF-8") from error
    read = [_read(number, line) for number, line in enumerate(lines, start=1)]
    said = [(line, body) for line, body in zip(lines, read, strict=True) if line.strip()]
    (head, first), *rest = said or [("", {})]
    count = _count(rest[-1][1]) if rest else None
    records = [line for line, _ in (rest if count is None else rest[:-1])]
    may_lack_end = not isinstance(first, dict) or first.get("version") == _WITHOUT_END
    if count != len(records) and not (count is None and may_lack_end):
        wanted = "its last line, which counts them, is missing"
        told = wanted if count is None else f"its last line counts {count}"
        raise TornExport(f"the export is incomplete: it holds {memories(len(records))}, and {told}")
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


def zipped(lines: str) -> bytes:
    """Lines as a zip file: a conversation that is longer than a server accepts fits once packed."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sessions.jsonl", lines)
    return made.getvalue()


def _read(number: int, line: str) -> Any:
    try:
        return json.loads(line.strip() or "{}")
    except (ValueError, RecursionError) as error:
        raise TornExport(f"line {number} cannot be read: {not_json(error)}") from error


def _count(body: Any) -> int | None:
    """How many records a last line tells of; None where it is none."""
    if not isinstance(body, dict) or body.keys() != {"records"}:
        return None
    return body["records"] if isinstance(body["records"], int) else -1


STANDARD = Path("-")
"""Names standard input and output."""


class FileTrouble(AssistantError):
    """A file cannot be read or written (the user acts)."""


def write_export(memory: "MemoryCalls", file: Path, progress: "Progress") -> int:
    """Write a user's memory to a new file; the number of memories in it."""
    with new_file(file) as out:
        return write_lines(memory, out, progress)


def write_lines(memory: "MemoryCalls", out: TextIO, progress: "Progress") -> int:
    """Write a user's memory line by line; the number of memories written."""
    count = 0
    for line in memory.exported():
        out.write(f"{line}\n")
        if is_record(line):
            count += 1
            progress.advance(1)
    return count


def read_export(file: Path) -> bytes:
    """What is in a file, or comes on standard input (`-`)."""
    try:
        return sys.stdin.buffer.read() if file == STANDARD else file.read_bytes()
    except OSError as error:
        raise FileTrouble(f"cannot read {file}: {error.strerror or error}") from error


@contextmanager
def new_file(file: Path) -> Iterator[TextIO]:
    """A file that is there once all of it is written; none that exists is replaced."""
    if file.exists():
        raise FileTrouble(f"{file} exists already: name another file")
    part = file.with_name(f"{file.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as out:
            yield out
        part.replace(file)
    except OSError as error:
        raise FileTrouble(f"cannot write {file}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
