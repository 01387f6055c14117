"""A judge model behind an OpenAI-compatible API, scripted: what it says, and how it fails."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import FastAPI, Form, Request, UploadFile
from fastapi.responses import JSONResponse, Response
from served import served


@dataclass(frozen=True)
class Fault:
    """One refusal: a status with a message and headers, or a body sent as it is."""

    status: int = 500
    message: str = "scripted"
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None


def always_yes(_: str) -> str:
    return "yes"


class ScriptedJudge:
    """Answers each request by `says(the last message)`, after the faults that are still to come."""

    def __init__(self) -> None:
        self.url = ""
        self.says: Callable[[str], str] = always_yes
        self.faults: list[Fault] = []
        self.refuses: str | None = None
        """A setting that this server does not take."""
        self.sent: list[dict[str, Any]] = []
        self.files: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.looks_until_done = 0
        """How often a batch is looked at while it still runs."""
        self.expires_after: int | None = None
        """So many requests of a batch are answered before its time is over."""
        self.forgets_to_answer = 0
        """So many batches are made without a word about it."""

    @property
    def spec(self) -> str:
        """How the longmemeval judge is called with this model."""
        return f"longmemeval=examiner@{self.url}"

    def reset(self) -> None:
        """As it was made."""
        vars(self).update(vars(ScriptedJudge()) | {"url": self.url})

    def app(self) -> FastAPI:
        app = FastAPI()
        app.add_api_route("/v1/chat/completions", self._complete, methods=["POST"])
        app.add_api_route("/v1/files", self._take_file, methods=["POST"])
        app.add_api_route("/v1/files/{name}/content", self._file, methods=["GET"])
        app.add_api_route("/v1/batches", self._make_batch, methods=["POST"])
        app.add_api_route("/v1/batches", self._list_batches, methods=["GET"])
        app.add_api_route("/v1/batches/{name}", self._batch, methods=["GET"])
        return app

    async def _take_file(self, file: UploadFile, purpose: Annotated[str, Form()]) -> Response:
        if purpose != "batch":
            return JSONResponse({"error": {"message": "what for?"}}, 400)
        return JSONResponse({"id": self._keep((await file.read()).decode())})

    def _keep(self, text: str) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = text
        return name

    async def _file(self, name: str) -> Response:
        return Response(self.files[name])

    async def _make_batch(self, request: Request) -> Response:
        body = await request.json()
        made = {"id": f"batch-{len(self.batches)}", "status": "validating", **body}
        self.batches[made["id"]] = made | {"looks": 0}
        if self.forgets_to_answer:
            self.forgets_to_answer -= 1
            return JSONResponse({"error": {"message": "scripted"}}, 500)
        return JSONResponse(made)

    async def _list_batches(self, limit: int, after: str = "") -> dict[str, Any]:
        named = list(self.batches)
        rest = named[named.index(after) + 1 if after else 0 :]
        # Pages are small, whatever is asked for.
        page = [self.batches[name] for name in rest[: min(limit, 1)]]
        return {"data": page, "has_more": len(rest) > len(page)}

    async def _batch(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        batch["looks"] += 1
        if batch["looks"] > self.looks_until_done and batch["status"] != "completed":
            self._finish(batch)
        return batch

    def _finish(self, batch: dict[str, Any]) -> None:
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        most = len(requests) if self.expires_after is None else self.expires_after
        results: dict[bool, list[str]] = {True: [], False: []}
        for place, one in enumerate(requests):
            line: dict[str, Any] = {"id": f"r{place}", "custom_id": one["custom_id"]}
            if place < most:
                status, body = self._answer(one["body"])
                line |= {"response": {"status_code": status, "body": body}, "error": None}
            else:
                error = {"code": "batch_expired", "message": "This request expired."}
                status, line = 500, line | {"response": None, "error": error}
            results[status == 200].append(json.dumps(line))
        batch["status"] = "completed" if most >= len(requests) else "expired"
        for name, lines in (("output", results[True]), ("error", results[False])):
            batch[f"{name}_file_id"] = self._keep("\n".join(lines)) if lines else None

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        self.sent.append(body)
        if self.faults:
            fault = self.faults.pop(0)
            if fault.body is not None:
                return Response(fault.body, fault.status, fault.headers)
            error = {"error": {"message": fault.message}}
            return JSONResponse(error, fault.status, fault.headers)
        status, told = self._answer(body)
        return JSONResponse(told, status)

    def _answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.refuses and self.refuses in body:
            return 400, {"error": {"message": f"Unsupported parameter: '{self.refuses}'"}}
        choice = {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": self.says(str(body["messages"][-1]["content"])),
            },
            "finish_reason": "stop",
        }
        return 200, {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8},
        }


@contextmanager
def scripted_judge() -> Iterator[ScriptedJudge]:
    """A running scripted judge."""
    judge = ScriptedJudge()
    with served(judge.app(), lifespan=False) as url:
        judge.url = f"{url}/v1"
        yield judge
