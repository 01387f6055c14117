"""A user's memory over HTTP, as the terminal commands use it: what can be done with it, and the
exports that it writes and takes."""

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from assistant.cli.connection import ServerConnection, ServerError, in_path
from assistant.cli.console import memory_count, new_file
from assistant.errors import AssistantError
from assistant.imports.json_items import not_json

if TYPE_CHECKING:
    from memory_store.transfer import Progress

_PAGE = 200
SHORTEST_PREFIX = 6
_WHOLE_ID = 36
_LINE = re.compile(r"\bline (\d+)")
# Well within the largest body that a server accepts by default.
_PIECE_BYTES = 400_000
_HEAD, _END = '{"format":', '{"records":'
# The version whose exports had no last line.
_WITHOUT_END = 1


class MemoryCalls:
    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self.user_id = connection.user_id
        self._mine = {"user_id": connection.user_id}
        self._user_path = f"/v1/users/{in_path(connection.user_id)}"

    def page(self, **asked: Any) -> dict[str, Any]:
        return self._connection.call("GET", "/v1/memories", params=self._mine | _given(asked))

    def search(self, query: str, *, questions: bool = False, **asked: Any) -> dict[str, Any]:
        body = self._mine | {"query": query, "questions": questions} | _given(asked)
        return self._connection.call("POST", "/v1/memories/search", json=body)

    def conflicts(self, limit: int) -> dict[str, Any]:
        asked = self._mine | {"limit": limit}
        return self._connection.call("GET", "/v1/memories/conflicts", params=asked)

    def said_by(self, id: str, speaker: str) -> dict[str, Any]:
        """Say who said what a memory contradicts the user with; the memory as it is then."""
        memory = self.show(id)
        facts = [fact["text"] for fact in memory["facts"] if fact["contradicts"]]
        if not facts:
            raise ServerError(f"the memory {memory['id']} contradicts nothing")
        body = self._mine | {"speakers": dict.fromkeys(facts, speaker)}
        return self._connection.call("PATCH", self._path(memory["id"]), json=body)

    def show(self, id: str) -> dict[str, Any]:
        """One memory; the beginning of its id will do."""
        return self._connection.call("GET", self._path(id), params=self._mine)

    def correct(self, id: str, user_text: str) -> dict[str, Any]:
        body = self._mine | {"user_text": user_text}
        return self._connection.call("PATCH", self._path(id), json=body)

    def forget(
        self, id: str | None = None, session_id: str | None = None, *, dry_run: bool = False
    ) -> dict[str, Any]:
        """Forget one memory, a session, or everything; or only count what would go."""
        path = f"{self._user_path}/memories"
        if id is not None:
            path = self._path(id)
        elif session_id is not None:
            path = f"/v1/sessions/{in_path(session_id)}"
        asked = self._mine | {"dry_run": str(dry_run).lower()}
        return self._connection.call("DELETE", path, params=asked)

    def expire(
        self, older_than: int | None, where: Any, *, all_users: bool, dry_run: bool
    ) -> dict[str, Any]:
        asked = _given({"older_than_days": older_than, "where": where})
        whose = {"all_users": True} if all_users else self._mine
        body = {**whose, **asked, "dry_run": dry_run}
        return self._connection.call("POST", "/v1/retention", json=body)

    def keep_up_to(self, reach: str, asked: Mapping[str, Any], *, dry_run: bool) -> dict[str, Any]:
        """Say where memories may go; or only count them."""
        body = {**self._mine, **_given(asked), "reach": reach, "dry_run": dry_run}
        return self._connection.call("POST", "/v1/memories/reach", json=body)

    def scrub(self) -> bool:
        """Take what was forgotten off the server's disk; whether that was its to do."""
        return bool(self._connection.call("POST", "/v1/scrub")["scrubbed"])

    def export(self, out: TextIO, progress: "Progress") -> int:
        """Write the lines of an export, the first of which says what they are; how many memories
        they hold."""
        count = 0
        for line in self._connection.lines("GET", f"{self._user_path}/export"):
            out.write(f"{line}\n")
            if not line.startswith((_HEAD, _END)):
                count += 1
                progress.advance(1)
        return count

    def export_file(self, file: Path, progress: "Progress") -> int:
        with new_file(file) as out:
            return self.export(out, progress)

    def coming(self, export: bytes, *, dry_run: bool) -> "Coming":
        """An export of ours, or of another assistant, sent piece by piece as they are asked for."""
        # Reading an export takes the memory store, which takes longer to import than most commands.
        from assistant.imports.plain import line_of
        from assistant.imports.reading import read_export
        from assistant.imports.recognised import Export, recognised

        if recognised(export) is Export.OTHERS:
            found = read_export(export)
            lines = packed(map(line_of, found.sessions), _PIECE_BYTES)
            zips = ((0, zipped("\n".join(piece))) for piece in lines if piece)
            pieces = self._bring_in(zips, dry_run, format="auto")
            rounds = found.count_rounds()
            return Coming(rounds, pieces, found.unreadable, dict(found.left_out), found.formats)
        records = export_lines(export)
        pieces = self._bring_in(records.pieces(_PIECE_BYTES), dry_run)
        return Coming(len(records.records), pieces, formats=[Export.RECORDS])

    def _bring_in(
        self, pieces: Iterable[tuple[int, bytes]], dry_run: bool, **asked: str
    ) -> Iterator[Mapping[str, int]]:
        """Import an export in pieces, each with the number of its lines where the server counts
        them; what became of each: `imported`, `known`."""
        sent = 0
        path, asked = f"{self._user_path}/import", asked | {"dry_run": str(dry_run).lower()}
        for count, body in pieces:
            try:
                yield self._connection.call("POST", path, params=asked, content=body)
            except ServerError as error:
                if not sent:
                    raise
                # The server counts the lines of the piece that it was sent.
                told = _counted_on(str(error), sent)
                raise ServerError(f"{told}; {memory_count(sent)} before it: imported") from error
            sent += count

    def whole_id(self, id: str) -> str:
        """The id that begins like this. Raises `ServerError` where none or several do."""
        if len(id) >= _WHOLE_ID:
            return id
        if len(id) < SHORTEST_PREFIX:
            raise ServerError(f"{id!r} is too short: give {SHORTEST_PREFIX} characters of the id")
        found, after = list[str](), None
        while True:
            page = self.page(after=after, limit=_PAGE)
            found += [one["id"] for one in page["data"] if one["id"].startswith(id)]
            if (after := page["next"]) is None:
                break
        if len(found) != 1:
            many = "several memories have ids that begin" if found else "no memory has an id"
            raise ServerError(f"{many} with {id!r}")
        return found[0]

    def _path(self, id: str) -> str:
        return f"/v1/memories/{in_path(self.whole_id(id))}"


def _counted_on(told: str, sent: int) -> str:
    """What is told of a line, by its number in the whole export."""
    return _LINE.sub(lambda found: f"line {int(found[1]) + sent}", told, count=1)


def _given(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that were given; a trailing underscore only keeps a name apart from
    Python's words."""
    return {name.rstrip("_"): value for name, value in asked.items() if value is not None}


class Coming(NamedTuple):
    """How many rounds an export holds, what becomes of them as they are sent, why others cannot be
    read, how much is left out for what reason, and what the export was found to be."""

    rounds: int
    pieces: Iterator[Mapping[str, int]]
    unreadable: Sequence[str] = ()
    left_out: Mapping[str, int] = MappingProxyType({})
    formats: Sequence[str] = ()


class TornExport(AssistantError):
    """An export cannot be read to its end (the user acts)."""


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
        raise TornExport(
            f"the export is incomplete: it holds {memory_count(len(records))}, and {told}"
        )
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
