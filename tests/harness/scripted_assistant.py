"""A small in-memory assistant over real HTTP that keeps to docs/api.md, with faults on demand.

Everything that is sent to it is kept in `wire`, so that tests can look at what left the harness.
"""

import asyncio
import contextlib
import re
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

START_SECONDS = 10.0


@dataclass
class Sent:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


@dataclass
class Fault:
    """What to do instead of answering: `kind` for requests whose `METHOD path` matches.

    The first `after` matching requests are answered normally, then `times` are not.
    """

    pattern: str
    kind: str
    times: int = 1
    after: int = 0
    status: int = 500
    seconds: float = 0.0
    text: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class StoredRound:
    user_text: str = ""
    assistant_text: str = ""
    date: str = ""
    answered: bool = False


class Memory:
    """Users, their sessions, and their rounds, formed by role."""

    def __init__(self) -> None:
        self.users: dict[str, dict[str, list[StoredRound]]] = {}
        self.seen: set[tuple[str, str, str]] = set()

    def record(self, user: str, session: str, message: dict[str, Any]) -> int:
        rounds = self.users.setdefault(user, {}).setdefault(session, [])
        name = (user, session, message["id"])
        if name in self.seen:
            return len(rounds) - 1
        self.seen.add(name)
        if message["role"] == "user" or not rounds:
            rounds.append(StoredRound(date=message["timestamp"]))
        side = "user_text" if message["role"] == "user" else "assistant_text"
        setattr(rounds[-1], side, getattr(rounds[-1], side) + message["content"])
        return len(rounds) - 1

    def forget(self, user: str) -> int:
        gone = self.users.pop(user, {})
        self.seen = {name for name in self.seen if name[0] != user}
        return sum(len(rounds) for rounds in gone.values())

    def search(self, user: str, query: str, unit: str, top_k: int) -> list[dict[str, Any]]:
        asked = set(re.findall(r"\w+", query.lower()))
        values = []
        for session, rounds in self.users.get(user, {}).items():
            for index, item in enumerate(rounds):
                words = set(re.findall(r"\w+", (item.user_text + item.assistant_text).lower()))
                similarity = len(asked & words) / max(1, len(asked))
                values.append(_value(session, index, item, similarity))
        values.sort(key=lambda value: -value["similarity"])
        if unit == "session":
            best: dict[str, dict[str, Any]] = {}
            for value in values:
                best.setdefault(value["session_id"], value)
            values = list(best.values())
        return values[:top_k]


def _value(session: str, index: int, item: StoredRound, similarity: float) -> dict[str, Any]:
    return {
        "id": f"{session}-{index}",
        "session_id": session,
        "round_index": index,
        "session_date": item.date,
        "similarity": similarity,
        "user_text": item.user_text,
        "assistant_text": item.assistant_text,
        "facts": [],
        "signals": {},
    }


class ScriptedAssistant:
    """The server in a thread; `answers` maps a question to a reply, else a round is quoted."""

    def __init__(self) -> None:
        self.port = 0
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self._restart: threading.Thread | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything: memory, wire, faults, script."""
        self.memory = Memory()
        self.wire: list[Sent] = []
        self.faults: list[Fault] = []
        self.answers: dict[str, str] = {}
        # What the model looked for before it answered a question; others tell nothing of it.
        self.looks: dict[str, list[dict[str, Any]]] = {}
        self.version: dict[str, Any] = {"version": "scripted-1", "settings": {"port": 1}}
        self.lost_rounds = 0
        self.restart_after: float | None = 0.2

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def sent(self, method: str, pattern: str) -> list[Sent]:
        return [s for s in self.wire if s.method == method and re.search(pattern, s.path)]

    def start(self) -> None:
        # Naming TCP lets the event loop switch off Nagle, which costs 40 ms a request.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(self._app(), log_level="critical", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not self._server.started:
            if time.monotonic() > deadline:
                raise RuntimeError("the scripted assistant did not start")
            time.sleep(0.005)

    def stop(self) -> None:
        self.settle()
        self._stop_server()

    def settle(self) -> None:
        """Wait until a death under way is over."""
        if self._restart is not None:
            self._restart.join(START_SECONDS)
            self._restart = None

    def _stop_server(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.should_exit = self._server.force_exit = True
            self._thread.join(START_SECONDS)

    def _die(self) -> None:
        """Go away like a killed process; come back after `restart_after` seconds, memory intact."""

        def work() -> None:
            self._stop_server()
            if self.restart_after is not None:
                time.sleep(self.restart_after)
                self.start()

        self._restart = threading.Thread(target=work, daemon=True)
        self._restart.start()

    def _app(self) -> FastAPI:
        app = FastAPI()
        _add_service_routes(app, self)
        _add_memory_routes(app, self)
        _add_chat_routes(app, self)

        @app.middleware("http")
        async def keep_and_fault(request: Request, call_next: Any) -> Response:
            body = (await request.body()).decode()
            path = str(request.url)[len(str(request.base_url)) - 1 :]
            self.wire.append(Sent(request.method, path, dict(request.headers), body))
            fault = self._due(f"{request.method} {path}")
            reply = await self._fault(fault) if fault else None
            return reply if reply is not None else await call_next(request)

        return app

    def _due(self, name: str) -> Fault | None:
        for fault in self.faults:
            if fault.times and re.search(fault.pattern, name):
                if fault.after:
                    fault.after -= 1
                    continue
                fault.times -= 1
                return fault
        return None

    async def _fault(self, fault: Fault) -> Response:
        if fault.kind == "status":
            error = {"error": {"message": "scripted failure", "type": "x", "param": None}}
            return JSONResponse(error, fault.status, headers=fault.headers)
        if fault.kind == "text":
            return PlainTextResponse(fault.text)
        if fault.kind == "die":
            self._die()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(fault.seconds or 5.0)
        return PlainTextResponse("too late", 503)


def _add_service_routes(app: FastAPI, server: ScriptedAssistant) -> None:
    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/ready")
    async def ready() -> dict[str, str]:
        return {"status": "ready"}

    @app.get("/version")
    async def version() -> dict[str, Any]:
        return server.version


def _add_memory_routes(app: FastAPI, server: ScriptedAssistant) -> None:
    @app.post("/v1/sessions")
    async def open_session(request: Request) -> dict[str, Any]:
        body = await request.json()
        return {"object": "session", "id": body["session_id"], "user_id": body["user_id"]}

    @app.post("/v1/sessions/{session_id}/messages")
    async def messages(session_id: str, request: Request) -> dict[str, Any]:
        body = await request.json()
        user = body["user_id"]
        touched = {server.memory.record(user, session_id, m): None for m in body["messages"]}
        rounds = [{"id": f"{session_id}-{i}", "round_index": i} for i in touched]
        return {"object": "session.messages", "session_id": session_id, "rounds": rounds}

    @app.get("/v1/sessions")
    async def sessions(user_id: str) -> dict[str, Any]:
        data = [
            {"id": name, "user_id": user_id, "rounds": len(rounds), "enrichment": {"pending": 0}}
            for name, rounds in server.memory.users.get(user_id, {}).items()
        ]
        if data:
            data[0]["rounds"] -= server.lost_rounds
        return {"object": "list", "data": data}


def _add_chat_routes(app: FastAPI, server: ScriptedAssistant) -> None:
    @app.post("/v1/memories/search")
    async def search(request: Request) -> dict[str, Any]:
        body = await request.json()
        unit, top_k = body["unit"], body["top_k"]
        return {"data": server.memory.search(body["user_id"], body["query"], unit, top_k)}

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> dict[str, Any]:
        body = await request.json()
        question = body["messages"][-1]["content"]
        found = server.memory.search(body["metadata"]["user_id"], question, "round", 1)
        quoted = found[0]["user_text"] or found[0]["assistant_text"] if found else "I don't know."
        answer = server.answers.get(question, quoted)
        message = {"role": "assistant", "content": answer}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        reply = {"choices": [{"index": 0, "message": message}], "usage": usage}
        looks = server.looks.get(question) if body["metadata"].get("memory_debug") else None
        if looks is not None:
            reply["memory"] = {"looks": looks, "timings": {"looking_ms": 40.0 * len(looks)}}
        return reply

    @app.delete("/v1/users/{user_id}/memories")
    async def forget(user_id: str) -> dict[str, Any]:
        return {"object": "user.memories.deleted", "deleted": server.memory.forget(user_id)}
