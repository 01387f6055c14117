"""Somebody else's assistant: an OpenAI-compatible chat route over real HTTP, and habits to choose.

It tells users apart by the body field `user`, sessions by the header `X-Session`, and knows dates
from a `[Weekday YYYY-MM-DD]` before a text or the body field `when`. It remembers what users said
and answers with the remembered sentence nearest to the question, else from the prompt itself; it
cites what it remembers in whatever shape it is asked to.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from served import served

# How it wants to be called, apart from its address.
PROFILE = """
[body]
user = "$user"
[headers]
X-Session = "$session"
[text]
prefix = "[$weekday $date] "
[question]
leaves_no_trace = true
[question.body]
store = false
"""
# Histories are told by a route that takes them without answering.
RECORDING = """
[body]
user = "$user"
when = "$date"
[headers]
X-Session = "$session"
X-Turn = "$turn"
[question]
leaves_no_trace = true
[question.body]
store = false
[record]
path = "/v1/notes/$session"
body = { user = "$user", turns = "$turns" }
"""
_DATE = re.compile(r"^\[\w+ (\d{4}-\d\d-\d\d)\] ")
_DULL = set(
    "a an and the is was did do i my me you of to in on at for what which how that it".split()
)


@dataclass(frozen=True)
class Heard:
    """One thing a user said."""

    session: str
    day: date
    text: str
    turn: str = ""


@dataclass(frozen=True)
class Arrived:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Rival:
    """The assistant's habits, its memory, and everything that was sent to it."""

    remembers: bool = True
    honours_time: bool = True
    isolates: bool = True
    tells_usage: bool = True
    delay: float = 0.0
    fail_every: int = 0
    fail_status: int = 500
    fail_headers: dict[str, str] = field(default_factory=dict)
    busy_for: int = 0
    cite: Callable[[list[Heard]], dict[str, Any]] | None = None
    cite_header: Callable[[list[Heard]], dict[str, str]] | None = None
    url: str = ""
    memory: dict[str, list[Heard]] = field(default_factory=dict)
    arrived: list[Arrived] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    def reset(self) -> None:
        """As it was made, once nothing is under way any more."""
        while self.under_way:
            time.sleep(0.005)
        vars(self).update(vars(Rival(url=self.url)))

    def chats(self) -> list[Arrived]:
        """The chat requests."""
        return [a for a in self.arrived if a.path.endswith("/chat/completions")]

    def hear(self, user: str, heard: Heard) -> None:
        if self.remembers:
            self.memory.setdefault(user if self.isolates else "everybody", []).append(heard)

    def answer(self, user: str, session: str, question: str, now: date) -> str:
        told = self.memory.get(user if self.isolates else "everybody", [])
        known = [heard for heard in told if heard.session != session]
        if not known:
            return _from_prompt(question)
        best = max(known, key=lambda heard: _overlap(question, heard.text))
        if not _overlap(question, best.text):
            return "I don't know."
        if "how many days ago" in question.lower():
            return f"That was {(now - best.day).days} days ago."
        return f"On {best.day:%d %B %Y} you said: {best.text}"

    def ranked(self, user: str, session: str, question: str) -> list[Heard]:
        """What it would answer from, the nearest first."""
        told = [heard for heard in self.memory.get(user, []) if heard.session != session]
        return sorted(told, key=lambda heard: -_overlap(question, heard.text))

    def number(self, heard: Heard) -> int:
        """The round of its session that something was said in, if it heard all of them."""
        everything = [h for told in self.memory.values() for h in told]
        return [h for h in everything if h.session == heard.session].index(heard)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.middleware("http")
        async def keep(request: Request, call_next: Any) -> Response:
            text = await request.body()
            path = request.url.path
            body = json.loads(text) if text else {}
            self.arrived.append(Arrived(request.method, path, dict(request.headers), body))
            if self.fail_every and len(self.arrived) % self.fail_every == 0:
                error = {"error": {"message": "scripted trouble"}}
                return JSONResponse(error, self.fail_status, headers=self.fail_headers)
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            await asyncio.sleep(self.delay if path.endswith("/completions") else 0)
            try:
                reply: Response = await call_next(request)
            finally:
                self.under_way -= 1
            return reply

        app.add_api_route("/v1/chat/completions", self._chat, methods=["POST"])
        app.add_api_route("/v1/notes/{session}", self._note, methods=["POST"])
        app.add_api_route("/v1/people/{user}", self._forget, methods=["DELETE"])
        app.add_api_route("/v1/queue", self._queue, methods=["GET"])
        return app

    async def _chat(self, request: Request) -> JSONResponse:
        body = await request.json()
        user, session = body.get("user", "anybody"), request.headers.get("X-Session", "one")
        day, text = self._dated(body["messages"][-1]["content"], body)
        answer = self.answer(user, session, text, day)
        ranked = self.ranked(user, session, text)
        if body.get("store", True):
            self.hear(user, Heard(session, day, text, request.headers.get("X-Turn", "")))
        reply: dict[str, Any] = {
            "choices": [{"index": 0, "message": {"role": "assistant", "content": answer}}]
        }
        if self.tells_usage:
            reply["usage"] = {"prompt_tokens": 10, "completion_tokens": 5}
        if self.cite:
            reply |= self.cite(ranked)
        return JSONResponse(reply, headers=self.cite_header(ranked) if self.cite_header else None)

    async def _note(self, session: str, request: Request) -> Response:
        body = await request.json()
        for turn in body["turns"]:
            day, text = self._dated(turn["content"], {"when": turn["timestamp"][:10]})
            if turn["role"] == "user":
                self.hear(body["user"], Heard(session, day, text, turn.get("id", "")))
        return Response(status_code=204)

    async def _forget(self, user: str) -> Response:
        self.memory.pop(user, None)
        return Response(status_code=204)

    async def _queue(self) -> dict[str, Any]:
        self.busy_for -= 1
        return {"jobs": [{"state": "busy" if self.busy_for >= 0 else "done"}]}

    def _dated(self, text: str, body: dict[str, Any]) -> tuple[date, str]:
        found = _DATE.match(text)
        told = found[1] if found else body.get("when")
        day = date.fromisoformat(told) if told and self.honours_time else datetime.now(UTC).date()
        return day, text[found.end() :] if found else text


@contextmanager
def rival(**habits: Any) -> Iterator[Rival]:
    """A running rival with these habits."""
    one = Rival(**habits)
    with served(one.app(), lifespan=False) as url:
        one.url = url
        yield one


def _words(text: str) -> set[str]:
    words = re.findall(r"\w+", text.lower())
    return {word.removesuffix("ed").removesuffix("s") for word in words} - _DULL


def _overlap(question: str, text: str) -> int:
    return len(_words(question) & _words(text))


def _from_prompt(prompt: str) -> str:
    """A plain model's answer: the line of the conversations nearest to the question."""
    asked = re.search(r"<question>\n(.*?)\n</question>", prompt, re.DOTALL)
    shown = re.search(r"<conversations>\n(.*?)\n</conversations>", prompt, re.DOTALL)
    if not asked or not shown:
        return "I don't know."
    lines = [line for line in shown[1].splitlines() if line.startswith("user: ")]
    best = max(lines, key=lambda line: _overlap(asked[1], line), default="")
    return best.removeprefix("user: ") or "I don't know."
