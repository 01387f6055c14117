"""A user's memory over HTTP, as the terminal commands use it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assistant.cli.connection import ServerConnection, ServerError, in_path
from assistant.cli.console import memories
from assistant.cli.files import ExportLines, packed, zipped

_PAGE = 200
SHORTEST_PREFIX = 6
_WHOLE_ID = 36
_LINE = re.compile(r"\bline (\d+)")
# Well within the largest body that a server accepts by default.
_PIECE_BYTES = 400_000


class MemoryCalls:
    """What can be done with the memory of the connection's user."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self.user_id = connection.user_id
        self._mine = {"user_id": connection.user_id}
        self._user_path = f"/v1/users/{in_path(connection.user_id)}"

    def page(self, **asked: Any) -> dict[str, Any]:
        """A page of memories by date, as the route answers it."""
        return self._connection.call("GET", "/v1/memories", params=self._mine | _given(asked))

    def pages(self, **asked: Any) -> Iterator[dict[str, Any]]:
        """All pages."""
        after = None
        while True:
            page = self.page(**asked, after=after, limit=_PAGE)
            yield page
            after = page["next"]
            if after is None:
                return

    def search(self, query: str, *, questions: bool = False, **asked: Any) -> dict[str, Any]:
        """What is found for a query, as the route answers it; with `questions` also what the user
        only asked."""
        body = self._mine | {"query": query, "questions": questions} | _given(asked)
        return self._connection.call("POST", "/v1/memories/search", json=body)

    def conflicts(self, limit: int) -> dict[str, Any]:
        """What may be another's and contradicts the user, as the route answers it."""
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
        """Put right what the user said; the memory as it is then."""
        body = self._mine | {"user_text": user_text}
        return self._connection.call("PATCH", self._path(id), json=body)

    def forget(self, id: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Forget one memory, or only count what goes with it."""
        return self._forget(self._path(id), dry_run)

    def forget_session(self, session_id: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Forget a session, or only count it."""
        return self._forget(f"/v1/sessions/{in_path(session_id)}", dry_run)

    def forget_all(self, *, dry_run: bool = False) -> dict[str, Any]:
        """Forget everything, or only count it."""
        return self._forget(f"{self._user_path}/memories", dry_run)

    def expire(
        self, older_than: int | None, where: Any, *, all_users: bool, dry_run: bool
    ) -> dict[str, Any]:
        """Forget what has expired or is old, or only count it."""
        asked = _given({"older_than_days": older_than, "where": where})
        whose = {"all_users": True} if all_users else self._mine
        body = {**whose, **asked, "dry_run": dry_run}
        return self._connection.call("POST", "/v1/retention", json=body)

    def scrub(self) -> bool:
        """Take what was forgotten off the server's disk; whether that was its to do."""
        return bool(self._connection.call("POST", "/v1/scrub")["scrubbed"])

    def exported(self) -> Iterator[str]:
        """The lines of an export, the first of which says what they are."""
        yield from self._connection.lines("GET", f"{self._user_path}/export")

    def bring_in(
        self, export: ExportLines, *, dry_run: bool = False
    ) -> Iterator[Mapping[str, int]]:
        """Import an export in pieces; what became of each: `imported`, `known`."""
        sent = 0
        path, asked = f"{self._user_path}/import", {"dry_run": str(dry_run).lower()}
        for count, body in export.pieces(_PIECE_BYTES):
            try:
                yield self._connection.call("POST", path, params=asked, content=body)
            except ServerError as error:
                if not sent:
                    raise
                # The server counts the lines of the piece that it was sent.
                told = _counted_on(str(error), sent)
                raise ServerError(f"{told}; {memories(sent)} before it: imported") from error
            sent += count

    def bring_in_sessions(
        self, lines: Iterable[str], *, dry_run: bool = False
    ) -> Iterator[Mapping[str, int]]:
        """Import sessions of other assistants, a line each, in pieces; what became of each."""
        path = f"{self._user_path}/import"
        asked = {"format": "auto", "dry_run": str(dry_run).lower()}
        for piece in packed(lines, _PIECE_BYTES):
            if piece:
                content = zipped("\n".join(piece))
                yield self._connection.call("POST", path, params=asked, content=content)

    def whole_id(self, id: str) -> str:
        """The id that begins like this. Raises `ServerError` where none or several do."""
        if len(id) >= _WHOLE_ID:
            return id
        if len(id) < SHORTEST_PREFIX:
            raise ServerError(f"{id!r} is too short: give {SHORTEST_PREFIX} characters of the id")
        ids = (one["id"] for page in self.pages() for one in page["data"])
        found = [one for one in ids if one.startswith(id)]
        if len(found) != 1:
            many = "several memories have ids that begin" if found else "no memory has an id"
            raise ServerError(f"{many} with {id!r}")
        return str(found[0])

    def _forget(self, path: str, dry_run: bool) -> dict[str, Any]:
        asked = self._mine | {"dry_run": str(dry_run).lower()}
        return self._connection.call("DELETE", path, params=asked)

    def _path(self, id: str) -> str:
        return f"/v1/memories/{in_path(self.whole_id(id))}"


def _counted_on(told: str, sent: int) -> str:
    """What is told of a line, by its number in the whole export."""
    return _LINE.sub(lambda found: f"line {int(found[1]) + sent}", told, count=1)


def _given(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked; a trailing underscore only keeps a name apart from Python's words."""
    return {name.rstrip("_"): value for name, value in asked.items() if value is not None}
