"""A scripted language model behind an OpenAI-compatible API on 127.0.0.1.

Rules are matched by task, not by order: a task is a prompt file, told by the beginning of the
system message; `plain` is a request without one of ours. A request that no rule expects, and a
reply that no request took, both fail the test (`check`). Everything sent is kept.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from served import served

from assistant.prompts.prompt_file import all_prompts

PLAIN = "plain"


@dataclass(frozen=True)
class Sent:
    """One request as it arrived."""

    task: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def system(self) -> str:
        """The text of the system messages."""
        return _system(self.body["messages"])

    @property
    def last(self) -> str:
        """The text of the last message."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class Reply:
    """What the model does once: text in pieces, or a fault.

    `cut` ends the connection in the middle of the reply; `delay` waits before each piece;
    `chunks` are sent as they are in place of pieces of text, with `usage` if given.
    `comments` are signs of life before the first piece, each after the delay; `raw` is sent as it
    is instead of a completion.
    """

    pieces: Sequence[str] = ()
    finish_reason: str = "stop"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    comments: int = 0
    raw: str | None = None
    chunks: Sequence[dict[str, Any]] = ()
    usage: dict[str, Any] | None = None


@dataclass
class Rule:
    """Requests of one task (and predicate), and the replies they get, in order."""

    task: str
    predicate: Callable[[Sent], bool]
    replies: list[Reply] = field(default_factory=list)
    work: Callable[[Sent], Reply] | None = None

    def always(self, work: Callable[[Sent], Reply]) -> None:
        """Answer every request that gets no other reply with what this makes of it."""
        self.work = work

    def reply(self, *pieces: str, **how: Any) -> "Rule":
        """Answer once with this text, streamed in these pieces."""
        self.replies.append(Reply(pieces, **how))
        return self

    def fault(self, status: int, **how: Any) -> "Rule":
        """Fail once with this status."""
        self.replies.append(Reply(status=status, **how))
        return self

    def chunks(self, *chunks: dict[str, Any], **how: Any) -> "Rule":
        """Answer once with these chunks, in OpenAI's shape."""
        self.replies.append(Reply(chunks=chunks, **how))
        return self

    def raw(self, text: str, **how: Any) -> "Rule":
        """Send this text once, whatever it is."""
        self.replies.append(Reply(raw=text, **how))
        return self

    def drop(self, *pieces: str) -> "Rule":
        """Once send these pieces, if any, and drop the connection."""
        self.replies.append(Reply(pieces, cut=True))
        return self


class ScriptedModel:
    """The script and the record of one scripted server; `url` is its base URL."""

    def __init__(self) -> None:
        self.url = ""
        self.sent: list[Sent] = []
        self.unexpected: list[Sent] = []
        self.left = threading.Event()
        """Set when a client went away before its reply was complete."""
        self._rules: list[Rule] = []

    def on(self, task: str, predicate: Callable[[Sent], bool] = lambda _: True) -> Rule:
        """Expect requests of this task; say what they get on the rule."""
        self._rules.append(Rule(task, predicate))
        return self._rules[-1]

    def requests(self, task: str) -> list[Sent]:
        """What was sent for a task."""
        return [sent for sent in self.sent if sent.task == task]

    def reset(self) -> None:
        """Forget the script and the record."""
        self.sent, self.unexpected, self._rules = [], [], []
        self.left.clear()

    def check(self) -> None:
        """Raise when something was asked that no rule expects, or a reply was not taken."""
        if self.unexpected:
            tasks = [(sent.task, sent.last[:80]) for sent in self.unexpected]
            raise AssertionError(f"requests that no rule expects: {tasks}")
        unused = [(rule.task, len(rule.replies)) for rule in self._rules if rule.replies]
        if unused:
            raise AssertionError(f"replies that were never asked for: {unused}")

    def app(self) -> FastAPI:
        """The server's application."""
        app = FastAPI()
        app.add_api_route("/v1/chat/completions", self._complete, methods=["POST"])
        return app

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        sent = Sent(_task(body["messages"]), body, dict(request.headers))
        self.sent.append(sent)
        reply = self._reply_to(sent)
        if reply is None:
            self.unexpected.append(sent)
            return JSONResponse({"error": {"message": "no rule expects this"}}, 400)
        if reply.raw is not None or reply.status != 200:
            await asyncio.sleep(reply.delay)
            text = reply.raw or json.dumps({"error": {"message": f"scripted {reply.status}"}})
            headers = {"content-type": "application/json"} | reply.headers
            return Response(text, reply.status, headers)
        if not body.get("stream"):
            return JSONResponse(_whole("".join(reply.pieces), reply.finish_reason))
        return StreamingResponse(self._events(reply), media_type="text/event-stream")

    def _reply_to(self, sent: Sent) -> Reply | None:
        for rule in self._rules:
            if rule.task != sent.task or not rule.predicate(sent):
                continue
            if rule.replies:
                return rule.replies.pop(0)
            if rule.work:
                return rule.work(sent)
        return None

    async def _events(self, reply: Reply) -> AsyncIterator[str]:
        complete = False
        try:
            for _ in range(reply.comments):
                await asyncio.sleep(reply.delay)
                yield ": still here\n\n"
            for number, piece in enumerate(reply.pieces):
                await asyncio.sleep(reply.delay)
                yield _chunk({"role": "assistant"} if number == 0 else {}, piece)
            for chunk in reply.chunks:
                await asyncio.sleep(reply.delay)
                yield _event(chunk)
            if reply.cut:
                raise ConnectionResetError("dropped, as scripted")
            if not reply.chunks:
                yield _chunk({}, None, reply.finish_reason)
            usage = reply.usage or {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
            yield _event({"choices": [], "usage": usage})
            yield "data: [DONE]\n\n"
            complete = True
        finally:
            if not (complete or reply.cut):
                self.left.set()


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """A running scripted model."""
    model = ScriptedModel()
    with served(model.app(), lifespan=False) as url:
        model.url = f"{url}/v1"
        yield model


def _task(messages: Sequence[dict[str, Any]]) -> str:
    """The prompt file whose beginning a system message holds."""
    system = _system(messages)
    for prompt in all_prompts():
        if prompt.text.splitlines()[0] in system:
            return prompt.name
    return PLAIN


def _system(messages: Sequence[dict[str, Any]]) -> str:
    """The text of the system messages."""
    said = [m["content"] or "" for m in messages if m["role"] in ("system", "developer")]
    texts = [
        one if isinstance(one, str) else "\n".join(p.get("text", "") for p in one) for one in said
    ]
    return "\n".join(texts)


def _whole(text: str, finish_reason: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def _chunk(delta: dict[str, Any], text: str | None, finish_reason: str | None = None) -> str:
    content = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta | content, "finish_reason": finish_reason}
    return _event({"choices": [choice]})


def _event(body: dict[str, Any]) -> str:
    common = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
    }
    return f"data: {json.dumps(common | body)}\n\n"
