"""Requests to one assistant: paced, repeated within bounds, counted, every failure typed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx

from harness import harness_version
from harness.assistants.endpoint import Endpoint, trust_for
from harness.assistants.wire import WrongShape
from harness.errors import (
    AssistantError,
    AssistantRefused,
    AssistantTimeout,
    AssistantUnreachable,
    BadReply,
)


@dataclass(slots=True)
class Traffic:
    """Attempts, repeated ones included. `lost` connections never gave an answer."""

    sent: int = 0
    rate_limited: int = 0
    server_errors: int = 0
    timeouts: int = 0
    lost: int = 0

    def answered(self, status: int) -> None:
        self.rate_limited += status == 429
        self.server_errors += status >= 500

    def to_json(self) -> dict[str, int]:
        return asdict(self)


# Statuses that ask for fewer requests; any other failure says nothing about load.
OVERLOADED = frozenset({429, 503, 529})


class Window:
    """The limit of requests at a time, as arithmetic alone, without waiting."""

    def __init__(self, ceiling: int) -> None:
        if ceiling < 1:
            raise ValueError("a pace needs room for one request")
        self._ceiling = ceiling
        self._width = float(ceiling)
        self._cuts = 0

    @property
    def limit(self) -> int:
        return int(self._width)

    @property
    def cuts(self) -> int:
        """How often the limit was halved."""
        return self._cuts

    def succeeded(self) -> None:
        """One more request went well: the limit grows by one for each limit's worth of them."""
        self._width = min(self._ceiling, self._width + 1 / self._width)

    def overloaded(self, cuts_when_sent: int) -> None:
        """Halve the limit, once for all requests that were under way together."""
        if cuts_when_sent == self._cuts:
            self._width = max(1.0, self._width / 2)
            self._cuts += 1


class Pace:
    """Lets requests through, as many at a time as its window allows."""

    def __init__(self, ceiling: int) -> None:
        self._window = Window(ceiling)
        self._under_way = 0
        self._room = asyncio.Condition()
        self._resume_at = 0.0
        self.narrowest = ceiling

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[int]:
        """Wait for room and for the end of any pause; yields the cuts so far, for `overloaded`."""
        async with self._room:
            await self._room.wait_for(lambda: self._under_way < self._window.limit)
            self._under_way += 1
        try:
            while (pause := self._resume_at - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            yield self._window.cuts
        finally:
            self._under_way -= 1
            async with self._room:
                self._room.notify_all()

    def succeeded(self) -> None:
        self._window.succeeded()

    def overloaded(self, cuts_when_sent: int, pause: float = 0.0) -> None:
        """The assistant asked for less, or gave no answer in time; nothing is sent for `pause`
        seconds.
        """
        self._window.overloaded(cuts_when_sent)
        self.narrowest = min(self.narrowest, self._window.limit)
        self._resume_at = max(self._resume_at, time.monotonic() + pause)


T = TypeVar("T")
UploadedFile = tuple[str, bytes, str]
"""The name of a file, its content, and its media type."""
_SHOWN = 200
_AMPLE = 64


class Transport:
    """One keep-alive connection pool to one assistant."""

    def __init__(self, endpoint: Endpoint, *, concurrency: int = _AMPLE) -> None:
        self.endpoint = endpoint
        self.traffic = Traffic()
        self._pace = Pace(concurrency)
        headers = {"User-Agent": f"aide-memoire-harness/{harness_version()}"}
        if endpoint.api_key:
            headers["Authorization"] = f"Bearer {endpoint.api_key}"
        self._http = httpx.AsyncClient(
            base_url=endpoint.url.rstrip("/"),
            headers=headers,
            timeout=endpoint.timeout,
            verify=trust_for(endpoint.url),
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    @property
    def narrowest(self) -> int:
        return self._pace.narrowest

    async def is_alive(self) -> bool:
        """Whether the server answers anything at all within a few seconds; asked once, never
        repeated.
        """
        try:
            await self._http.get("/health", timeout=min(5.0, self.endpoint.timeout))
        except httpx.TransportError:
            return False
        return True

    async def request(
        self,
        method: str,
        route: str,
        parse: Callable[[Any], T],
        body: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        """What `parse` makes of the JSON reply; raises the errors of `harness.errors`."""
        response = await self.exchange(method, route, body, headers=headers)
        return read(response, _name(method, route), parse)

    async def exchange(
        self,
        method: str,
        route: str,
        body: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        files: Mapping[str, UploadedFile] | None = None,
    ) -> httpx.Response:
        """Return a successful reply, whatever is in it. With `files` the request is a form."""
        name = _name(method, route)
        sent: dict[str, Any] = {"data": body, "files": files} if files else {"json": body}
        request = self._http.build_request(method, self._path(route), headers=headers, **sent)
        response = await self._send(request, name)
        if response.status_code >= 400:
            raise _refusal(name, response)
        return response

    def _path(self, route: str) -> str:
        # OpenAI-style base URLs end in /v1, with which routes begin.
        doubled = urlsplit(self.endpoint.url).path.rstrip("/").endswith("/v1")
        return route.removeprefix("/v1") if doubled and route.startswith("/v1/") else route

    async def _send(self, request: httpx.Request, name: str) -> httpx.Response:
        retry = self.endpoint.retry
        answers = losses = 0
        lost_since = 0.0
        while True:
            retry_after = None
            try:
                response = await self._once(request)
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

    async def _once(self, request: httpx.Request) -> httpx.Response:
        async with self._pace.turn() as cuts:
            self.traffic.sent += 1
            try:
                response = await self._http.send(request)
            except httpx.TimeoutException:
                self.traffic.timeouts += 1
                self._pace.overloaded(cuts)
                raise
            except httpx.TransportError:
                self.traffic.lost += 1
                raise
            self.traffic.answered(response.status_code)
            if response.status_code in OVERLOADED:
                asked_for = response.headers.get("Retry-After")
                self._pace.overloaded(cuts, self.endpoint.retry.asked_for(asked_for))
            else:
                self._pace.succeeded()
            return response

    def _too_slow(self, name: str, attempts: int) -> AssistantTimeout:
        return AssistantTimeout(
            f"{name}: no answer within {self.endpoint.timeout:g} s, tried {attempts} times",
            route=name,
        )

    def _unreachable(self, name: str, error: Exception) -> AssistantUnreachable:
        reason = str(error) or type(error).__name__
        return AssistantUnreachable(
            f"no connection to the assistant at {self.endpoint.public_url} ({name}: {reason})"
        )


def read(response: httpx.Response, name: str, parse: Callable[[Any], T]) -> T:
    """What `parse` makes of the JSON in a reply to the request `name`; `BadReply` where there is
    none, or one of the wrong shape.
    """
    try:
        return parse(response.json())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        message = f"{name}: the reply is not JSON: {_shown(response)}"
        raise BadReply(message, route=name, status=response.status_code) from error
    except WrongShape as error:
        message = f"{name}: the reply has the wrong shape ({error}): {_shown(response)}"
        raise BadReply(message, route=name, status=response.status_code) from error


def _name(method: str, route: str) -> str:
    return f"{method} {route.partition('?')[0]}"


def _refusal(name: str, response: httpx.Response) -> AssistantError | AssistantRefused:
    detail = detail_of(response)
    status = response.status_code
    if status in (401, 403):
        return AssistantRefused(f"{name}: the assistant refuses access ({status}): {detail}")
    return AssistantError(f"{name}: status {status}: {detail}", route=name, status=status)


def detail_of(response: httpx.Response) -> str:
    """What a reply of failure says, in short: its error message, or the body as it is."""
    with suppress(ValueError, KeyError, TypeError):
        return str(response.json()["error"]["message"])[:_SHOWN]
    return _shown(response)


def _shown(response: httpx.Response) -> str:
    text = response.text.strip()
    return repr(text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")) if text else "an empty body"
