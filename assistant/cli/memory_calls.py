"""A user's memory over HTTP, as the terminal commands use it: what can be done with it, and the
exports that it writes and takes."""

import codecs
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from assistant.cli.connection import ServerConnection, ServerError, in_path
from assistant.cli.console import memory_count, new_file
from assistant.errors import InvalidRequest

if TYPE_CHECKING:
    from memory_store import Record
    from memory_store.transfer import Progress

_PAGE = 200
SHORTEST_PREFIX = 6
_WHOLE_ID = 36
# Well within the largest body that a server accepts by default.
_PIECE_BYTES = 400_000
_HEAD, _END = '{"format":', '{"records":'


class MemoryCalls:
    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self.user_id = connection.user_id
        self._user_path = f"/v1/users/{in_path(connection.user_id)}"

    def page(self, **asked: Any) -> dict[str, Any]:
        return self._connection.mine("GET", "/v1/memories", **asked)

    def search(self, query: str, **asked: Any) -> dict[str, Any]:
        return self._connection.mine("POST", "/v1/memories/search", query=query, **asked)

    def conflicts(self, limit: int) -> dict[str, Any]:
        return self._connection.mine("GET", "/v1/memories/conflicts", limit=limit)

    def said_by(self, id: str, speaker: str) -> dict[str, Any]:
        """Say who said the facts of a memory that contradict others. Return the memory as it is
        then."""
        memory = self.show(id)
        facts = [fact["text"] for fact in memory["facts"] if fact["contradicts"]]
        if not facts:
            raise ServerError(f"the memory {memory['id']} contradicts nothing")
        return self.correct(memory["id"], speakers=dict.fromkeys(facts, speaker))

    def health(self, finding: str | None, limit: int) -> dict[str, Any]:
        return self._connection.mine("GET", "/v1/memories/health", finding=finding, limit=limit)

    def settle(self, id: str, fact: str | None, said: Mapping[str, Any]) -> dict[str, Any]:
        """Say up to when a fact of a memory holds; its only fact where none is named. `said` are
        `confirmed`, and `condition` and `ask_on` where they are to change."""
        memory = self.show(id)
        texts = [one["text"] for one in memory["facts"]]
        found = [text for text in texts if fact is None or fact.casefold() in text.casefold()]
        if len(found) != 1:
            told = "; ".join(texts) or "none"
            raise ServerError(f"name one fact of the memory {memory['id']} by its words: {told}")
        body: dict[str, Any] = {"confirmed": found} if said.get("confirmed") else {}
        if "condition" in said:
            body["conditions"] = {found[0]: said["condition"]}
        if "ask_on" in said:
            body["ask_on"] = {found[0]: said["ask_on"]}
        return self.correct(memory["id"], **body)

    def show(self, id: str) -> dict[str, Any]:
        """One memory; the beginning of its id will do."""
        return self._connection.mine("GET", self._path(id))

    def correct(self, id: str, **what: Any) -> dict[str, Any]:
        return self._connection.mine("PATCH", self._path(id), **what)

    def forget(
        self,
        id: str | None = None,
        session_id: str | None = None,
        *,
        dry_run: bool = False,
        receipt: bool = False,
    ) -> dict[str, Any]:
        """Forget one memory, a session, or everything; or only count what would go."""
        path = f"{self._user_path}/memories"
        if id is not None:
            path = self._path(id)
        elif session_id is not None:
            path = f"/v1/sessions/{in_path(session_id)}"
        params = {"user_id": self.user_id, "dry_run": dry_run}
        headers = {"X-Memory-Receipt": "1"} if receipt else {}
        return self._connection.call("DELETE", path, params=params, headers=headers)

    def verify(self, receipt: Mapping[str, Any]) -> dict[str, Any]:
        """Compare a receipt with memory."""
        return self._connection.call("POST", "/v1/receipts", json={"receipt": receipt})

    def expire(
        self, older_than: int | None, where: Any, *, all_users: bool, dry_run: bool
    ) -> dict[str, Any]:
        return self._connection.mine(
            "POST",
            "/v1/retention",
            all_users=all_users,
            older_than_days=older_than,
            where=where,
            dry_run=dry_run,
        )

    def keep_up_to(self, reach: str, asked: Mapping[str, Any], *, dry_run: bool) -> dict[str, Any]:
        """Say where memories may go; or only count them."""
        return self._connection.mine(
            "POST", "/v1/memories/reach", **asked, reach=reach, dry_run=dry_run
        )

    def scrub(self) -> bool:
        """Take what was forgotten off the server's disk. Return False for a Qdrant server, which
        does this itself."""
        return bool(self._connection.call("POST", "/v1/scrub")["scrubbed"])

    def export(self, out: TextIO, progress: "Progress") -> int:
        """Write the lines of an export, the first of which says what they are. Return how many
        memories they hold."""
        progress.begin("exporting", self.page(limit=1)["total"])
        count = 0
        for line in self._connection.lines("GET", f"{self._user_path}/export"):
            out.write(f"{line}\n")
            if not line.startswith((_HEAD, _END)):
                count += 1
                progress.advance(1)
        return count

    def export_bundle(self, file: Path) -> dict[str, Any]:
        """Write a zip file of Portable AI Memory. Return how many `rounds` it holds, and how many
        of them have something `without_a_place` there, by the name of the field."""
        from assistant.imports.pam_bundle import REPORT

        path = f"{self._user_path}/export"
        content = self._connection.content("GET", path, params={"format": "pam"})
        with new_file(file) as out:
            out.buffer.write(content)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            report: dict[str, Any] = json.loads(archive.read(REPORT))
        return report

    def export_file(self, file: Path, progress: "Progress") -> int:
        with new_file(file) as out:
            return self.export(out, progress)

    def coming(self, export: bytes, *, dry_run: bool) -> "Coming":
        """An export of ours, or of another assistant. A piece is sent when it is asked for."""
        # Reading an export takes the memory store, which takes longer to import than most commands.
        from assistant.imports.pam_bundle import records_in
        from assistant.imports.plain import line_of
        from assistant.imports.reading import read_export
        from assistant.imports.recognised import MOST_BYTES, Export, recognised
        from memory_store.transfer import ending, header, to_line

        records = records_in(export, MOST_BYTES)
        if records is None and recognised(export) is Export.OTHERS:
            found = read_export(export)
            lines = packed(map(line_of, found.sessions), _PIECE_BYTES)
            pieces = self._bring_in(map(zipped, filter(None, lines)), dry_run, format="auto")
            rounds = found.count_rounds()
            return Coming(
                rounds,
                pieces,
                found.unreadable,
                found.left_out,
                found.formats,
                found.fields_not_read,
            )
        if records is None:
            records = records_of(export)
        exports = (
            "\n".join([header(), *lines, ending(len(lines))]).encode()
            for lines in packed(map(to_line, records), _PIECE_BYTES)
        )
        return Coming(len(records), self._bring_in(exports, dry_run), formats=[Export.RECORDS])

    def _bring_in(
        self, exports: Iterable[bytes], dry_run: bool, **asked: Any
    ) -> Iterator[Mapping[str, Any]]:
        """Import exports one after the other. Yield what became of each: `imported`, `known`."""
        path, before = f"{self._user_path}/import", 0
        for export in exports:
            try:
                done = self._connection.call(
                    "POST", path, params={"dry_run": dry_run, **asked}, content=export
                )
            except ServerError as error:
                if not before:
                    raise
                raise ServerError(f"{error}; {memory_count(before)} before it: imported") from error
            before += done["imported"] + done["known"]
            yield done

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


class Coming(NamedTuple):
    """How many rounds an export holds, what becomes of them as they are sent, why others cannot be
    read, how much is left out for what reason, what the export was found to be, and which fields
    are not read."""

    rounds: int
    pieces: Iterator[Mapping[str, Any]]
    unreadable: Sequence[str] = ()
    left_out: Mapping[str, int] = MappingProxyType({})
    formats: Sequence[str] = ()
    fields_not_read: Mapping[str, int] = MappingProxyType({})


def records_of(export: bytes) -> "list[Record]":
    """The records of an export of ours. Raises `InvalidRequest` where it is damaged or cut off."""
    from assistant.imports.reading import utf8_text
    from memory_store.errors import InvalidRecord
    from memory_store.transfer import from_lines

    try:
        return list(from_lines(utf8_text(export.removeprefix(codecs.BOM_UTF8)).split("\n")))
    except InvalidRecord as error:
        raise InvalidRequest(str(error)) from error


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


def zipped(lines: Sequence[str]) -> bytes:
    """Lines as a zip file: a conversation that is longer than a server accepts fits once packed."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sessions.jsonl", "\n".join(lines))
    return made.getvalue()
