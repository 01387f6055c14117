"""A store of the Add/Search convention over real HTTP, and the faults of some."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from served import served

_DULL = frozenset("a an and the is was did do i my me you to of in on at for what which".split())


@dataclass
class Kept:
    """One message of a user."""

    id: str
    user: str
    session: str
    text: str
    said_at: str


@dataclass
class ScriptedStore:
    """Keeps every message of every request once, and finds by shared words."""

    url: str = ""
    knows_requests: bool = True
    isolates: bool = True
    loses_every: int = 0
    busy_first: int = 0
    refuses: int = 0
    """The status by which every memory is refused."""
    kept: list[Kept] = field(default_factory=list)
    added: list[dict[str, Any]] = field(default_factory=list)
    searched: list[dict[str, Any]] = field(default_factory=list)

    def app(self) -> FastAPI:
        app = FastAPI()
        app.add_api_route("/board/add", self._add, methods=["POST"])
        app.add_api_route("/board/search", self._search, methods=["POST"])
        app.add_api_route("/board/health", lambda: {"ok": True}, methods=["GET"])
        return app

    async def _add(self, request: Request) -> JSONResponse:
        body = await request.json()
        self.added.append(body)
        named = {key: body[key] for key in ("request_id", "user_id", "session_id")}
        if self.refuses:
            return JSONResponse({"detail": "read only"}, self.refuses)
        if len(self.added) <= self.busy_first:
            return JSONResponse({"detail": {"reason": "busy"}}, 429, {"Retry-After": "0"})
        is_lost = self.loses_every and len(self.added) % self.loses_every == 0
        is_known = self.knows_requests and self._holds(body["request_id"])
        if not is_lost and not is_known:
            self._keep(body)
        return JSONResponse({"success": True, **named})

    def _holds(self, request_id: str) -> bool:
        return any(one.id.startswith(f"{request_id}-") for one in self.kept)

    def _keep(self, body: dict[str, Any]) -> None:
        for place, message in enumerate(body["messages"]):
            said_at = datetime.fromtimestamp(message["timestamp"] / 1000, UTC).isoformat()
            name = f"{body['request_id']}-{place}"
            user, session = body["user_id"], body["session_id"]
            self.kept.append(Kept(name, user, session, message["content"], said_at))

    async def _search(self, request: Request) -> dict[str, Any]:
        body = await request.json()
        self.searched.append(body)
        asked = _words(body["query"])
        own = [one for one in self.kept if one.user == body["user_id"] or not self.isolates]
        ranked = sorted(own, key=lambda one: -len(asked & _words(one.text)))
        return {
            "data": [
                {
                    "id": one.id,
                    "content": one.text,
                    "score": len(asked & _words(one.text)),
                    "created_at": one.said_at,
                }
                for one in ranked[: body["top_k"]]
            ]
        }


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - _DULL


@contextmanager
def scripted_store(**habits: Any) -> Iterator[ScriptedStore]:
    """A running store with these habits."""
    store = ScriptedStore(**habits)
    with served(store.app(), lifespan=False) as url:
        store.url = f"{url}/board"
        yield store
