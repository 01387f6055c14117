"""The assistant as the harness sees it: a handful of HTTP routes with typed results and typed
errors.
"""

import asyncio
import json
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlsplit, urlunsplit

import httpx

from harness.assistants.retry import RetryPolicy
from harness.assistants.wire import (
    Answer,
    RankedValue,
    StoredSession,
    WrongShape,
    parse_answer,
    parse_object,
    parse_ranking,
    parse_recorded,
    parse_sessions,
)
from harness.errors import (
    AssistantError,
    AssistantRefused,
    AssistantTimeout,
    AssistantUnreachable,
    BadReply,
    UsageError,
)
from harness.version import harness_version

T = TypeVar("T")
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the assistant is and how patiently to speak to it; `timeout` is seconds for one
    request.
    """

    url: str
    api_key: str | None = field(default=None, repr=False)
    model: str = "aide-memoire"
    timeout: float = 120.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UsageError(f"--assistant {self.url!r} is not an http(s) URL")

    @property
    def public_url(self) -> str:
        """The URL without credentials, fit for a manifest."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class AssistantClient:
    """One keep-alive connection pool to one assistant. Every method may raise the errors of
    `harness.errors`.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        headers = {"User-Agent": f"aide-memoire-harness/{harness_version()}"}
        if endpoint.api_key:
            headers["Authorization"] = f"Bearer {endpoint.api_key}"
        self._http = httpx.AsyncClient(
            base_url=endpoint.url.rstrip("/"),
            headers=headers,
            timeout=endpoint.timeout,
            verify=_tls(),
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def version(self) -> dict[str, Any] | None:
        """What the server says it runs, or None where it has no such route."""
        try:
            return await self._request("GET", "/version", parse_object)
        except AssistantError as error:
            if error.status == 404:
                return None
            raise

    async def is_alive(self) -> bool:
        """Whether the server answers anything at all within a few seconds; asked once, never
        repeated.
        """
        try:
            await self._http.get("/health", timeout=min(5.0, self._endpoint.timeout))
        except httpx.TransportError:
            return False
        return True

    async def open_session(self, user_id: str, session_id: str, started_at: str) -> None:
        """Announce a session that may stay without turns."""
        body = {"user_id": user_id, "session_id": session_id, "started_at": started_at}
        await self._request("POST", "/v1/sessions", parse_object, body)

    async def record(
        self, user_id: str, session_id: str, messages: Sequence[dict[str, str]], *, close: bool
    ) -> list[int]:
        """Record turns; returns the indices of the rounds they fell into.

        `close` tells that the session ends here, so that end-of-session work is finished on return.
        """
        body = {"user_id": user_id, "messages": list(messages), "wait": close, "close": close}
        return await self._request(
            "POST", f"/v1/sessions/{quote(session_id)}/messages", parse_recorded, body
        )

    async def sessions(self, user_id: str) -> list[StoredSession]:
        """Everything this user has in memory, by session."""
        return await self._request("GET", f"/v1/sessions?user_id={quote(user_id)}", parse_sessions)

    async def search(
        self, user_id: str, query: str, *, now: str, unit: str, top_k: int
    ) -> list[RankedValue]:
        """Rank this user's rounds or sessions for a query."""
        body = {"user_id": user_id, "query": query, "now": now, "unit": unit, "top_k": top_k}
        return await self._request("POST", "/v1/memories/search", parse_ranking, body)

    async def ask(self, user_id: str, session_id: str, question: str, *, now: str) -> Answer:
        """Ask a question without leaving a trace of it in memory."""
        body = {
            "model": self._endpoint.model,
            "messages": [{"role": "user", "content": question}],
            "stream": False,
            "metadata": {
                "user_id": user_id,
                "session_id": session_id,
                "timestamp": now,
                "memory": "read_only",
            },
        }
        return await self._request("POST", "/v1/chat/completions", parse_answer, body)

    async def forget_user(self, user_id: str) -> None:
        """Delete everything of a user; nothing to delete is fine."""
        route = f"/v1/users/{quote(user_id)}/memories"
        await self._request("DELETE", route, parse_object)

    async def _request(
        self, method: str, route: str, parse: Callable[[Any], T], body: dict[str, Any] | None = None
    ) -> T:
        name = f"{method} {route.partition('?')[0]}"
        response = await self._send(method, route, name, body)
        if response.status_code >= 400:
            raise _refusal(name, response)
        try:
            return parse(response.json())
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            message = f"{name}: the reply is not JSON: {_shown(response)}"
            raise BadReply(message, route=name, status=response.status_code) from error
        except WrongShape as error:
            message = f"{name}: the reply has the wrong shape ({error}): {_shown(response)}"
            raise BadReply(message, route=name, status=response.status_code) from error

    async def _send(
        self, method: str, route: str, name: str, body: dict[str, Any] | None
    ) -> httpx.Response:
        """Repeat until an answer worth reading, within the retry policy."""
        retry = self._endpoint.retry
        answers = losses = 0
        lost_since = 0.0
        while True:
            retry_after = None
            try:
                response = await self._http.request(method, route, json=body)
            except httpx.TimeoutException as error:
                if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
                    raise self._unreachable(name, error) from error
                answers += 1
                if answers >= retry.attempts:
                    raise self._too_slow(name, answers) from error
            except httpx.DecodingError as error:
                raise BadReply(
                    f"{name}: the reply cannot be decoded: {error}", route=name
                ) from error
            except httpx.TransportError as error:
                losses += 1
                lost_since = lost_since or time.monotonic()
                if time.monotonic() - lost_since >= retry.reconnect_seconds:
                    raise self._unreachable(name, error) from error
            else:
                answers += 1
                repeatable = response.status_code >= 500 or response.status_code == 429
                if not repeatable or answers >= retry.attempts:
                    return response
                losses, lost_since = 0, 0.0
                retry_after = response.headers.get("Retry-After")
            await asyncio.sleep(retry.wait(answers + losses, retry_after))

    def _too_slow(self, name: str, attempts: int) -> AssistantTimeout:
        return AssistantTimeout(
            f"{name}: no answer within {self._endpoint.timeout:g} s, tried {attempts} times",
            route=name,
        )

    def _unreachable(self, name: str, error: Exception) -> AssistantUnreachable:
        reason = str(error) or type(error).__name__
        return AssistantUnreachable(
            f"no connection to the assistant at {self._endpoint.public_url} ({name}: {reason})"
        )


@cache
def _tls() -> ssl.SSLContext:
    # Reading the certificates takes longer than a short run: once for all clients.
    return httpx.create_ssl_context(trust_env=False)


def _refusal(name: str, response: httpx.Response) -> AssistantError | AssistantRefused:
    detail = _shown(response)
    with suppress(ValueError, KeyError, TypeError):  # any other body is shown as it is
        detail = str(response.json()["error"]["message"])[:_SHOWN]
    status = response.status_code
    if status in (401, 403):
        return AssistantRefused(f"{name}: the assistant refuses access ({status}): {detail}")
    return AssistantError(f"{name}: status {status}: {detail}", route=name, status=status)


def _shown(response: httpx.Response) -> str:
    text = response.text.strip()
    return repr(text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")) if text else "an empty body"
