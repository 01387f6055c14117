"""A client of a running assistant, as the terminal commands use it."""

import json
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import httpx

from assistant.errors import AssistantError


class ServerError(AssistantError):
    """The server cannot be reached or refused the request."""


class ChatClient:
    """One conversation with an assistant over HTTP."""

    def __init__(
        self,
        base_url: str,
        user_id: str,
        session_id: str | None,
        timestamp: str | None,
        api_key: str | None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.user_id = user_id
        self.session_id = session_id
        self.timestamp = timestamp
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._http = httpx.Client(base_url=self.base_url, headers=headers, timeout=600)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.close()

    def check(self) -> None:
        """Raise `ServerError` when no assistant answers there."""
        try:
            reply = self._http.get("/health", timeout=10)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if reply.status_code != 200:
            raise ServerError(f"{self.base_url} is not an assistant: GET /health answered {reply}")

    def ask(self, messages: list[dict[str, str]], **metadata: str) -> dict[str, Any]:
        """The whole reply to the last message."""
        try:
            reply = self._http.post("/v1/chat/completions", json=self._body(messages, metadata))
            reply.read()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        body = _json(reply)
        if reply.status_code != 200:
            raise ServerError(_message(body, reply))
        return body

    def stream(self, messages: list[dict[str, str]], **metadata: str) -> Iterator[str]:
        """The answer to the last message, in pieces. Closing it stops the answer."""
        body = self._body(messages, metadata) | {"stream": True}
        try:
            with self._http.stream("POST", "/v1/chat/completions", json=body) as reply:
                if reply.status_code != 200:
                    reply.read()
                    raise ServerError(_message(_json(reply), reply))
                self.session_id = self.session_id or reply.headers.get("x-memory-session")
                yield from _deltas(reply)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def _body(self, messages: list[dict[str, str]], metadata: dict[str, str]) -> dict[str, Any]:
        known = {"session_id": self.session_id, "timestamp": self.timestamp}
        given = {name: value for name, value in known.items() if value is not None}
        return {
            "messages": messages,
            "metadata": {"user_id": self.user_id} | given | metadata,
        }

    def _unreachable(self, error: httpx.HTTPError) -> ServerError:
        return ServerError(
            f"no assistant answers at {self.base_url} ({error}): start one with 'assistant serve'"
        )


def _deltas(reply: httpx.Response) -> Iterator[str]:
    for line in reply.iter_lines():
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        event = json.loads(line.removeprefix("data: "))
        if "error" in event:
            raise ServerError(event["error"]["message"])
        for choice in event["choices"]:
            if text := choice["delta"].get("content"):
                yield text


def _json(reply: httpx.Response) -> dict[str, Any]:
    try:
        body = reply.json()
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {}


def _message(body: dict[str, Any], reply: httpx.Response) -> str:
    error = body.get("error")
    return error["message"] if isinstance(error, dict) else f"the server answered {reply}"
