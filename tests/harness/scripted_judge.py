"""A judge model behind an OpenAI-compatible API, scripted: what it says, and how it fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
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
        return app

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        self.sent.append(body)
        if self.faults:
            fault = self.faults.pop(0)
            if fault.body is not None:
                return Response(fault.body, fault.status, fault.headers)
            error = {"error": {"message": fault.message}}
            return JSONResponse(error, fault.status, fault.headers)
        if self.refuses and self.refuses in body:
            message = f"Unsupported parameter: '{self.refuses}'"
            return JSONResponse({"error": {"message": message}}, 400)
        text = self.says(str(body["messages"][-1]["content"]))
        return JSONResponse(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": text},
                        "finish_reason": "stop",
                    }
                ],
                "usage": {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8},
            }
        )


@contextmanager
def scripted_judge() -> Iterator[ScriptedJudge]:
    """A running scripted judge."""
    judge = ScriptedJudge()
    with served(judge.app(), lifespan=False) as url:
        judge.url = f"{url}/v1"
        yield judge
