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
        try:
            self._http = httpx.Client(base_url=self.base_url, headers=headers, timeout=600)
        except httpx.InvalidURL as error:
            raise ServerError(f"{base_url!r} is not a URL: {error}") from error

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
        """The whole reply to the last message. Raises `ServerError`."""
        try:
            reply = self._http.post("/v1/chat/completions", json=self._body(messages, metadata))
            reply.read()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        body = _json(reply)
        if reply.status_code != 200:
            raise ServerError(_message(body, reply))
        if not body.get("choices"):
            raise ServerError(f"{self.base_url} is not an assistant: its reply has no answer")
        return body

    def stream(self, messages: list[dict[str, str]], **metadata: str) -> Iterator[str]:
        """The answer to the last message, in pieces. Closing it stops the answer.

        Raises `ServerError`, in the middle of the answer too.
        """
        body = self._body(messages, metadata) | {"stream": True}
        try:
            with self._http.stream("POST", "/v1/chat/completions", json=body) as reply:
                if reply.status_code != 200:
                    reply.read()
                    raise ServerError(_message(_json(reply), reply))
                self.session_id = self.session_id or reply.headers.get("x-memory-session")
                for line in reply.iter_lines():
                    yield from _deltas(line)
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


def _deltas(line: str) -> Iterator[str]:
    """The text in one line of a stream."""
    if not line.startswith("data: ") or line == "data: [DONE]":
        return
    try:
        event = json.loads(line.removeprefix("data: "))
        if "error" in event:
            raise ServerError(event["error"]["message"])
        texts = [choice["delta"].get("content") for choice in event["choices"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ServerError(f"the server sent a piece that is no answer: {line[:80]!r}") from error
    yield from (text for text in texts if text)


def _json(reply: httpx.Response) -> dict[str, Any]:
    try:
        body = reply.json()
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {}


def _message(body: dict[str, Any], reply: httpx.Response) -> str:
    error = body.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return str(message or f"the server answered {reply}")
