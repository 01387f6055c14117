"""Middleware around every request, which is counted, logged and made a job of its own. Its body is
read within bounds, and a server that is about to end refuses it."""

import asyncio
import logging
import re
import time
import uuid
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.access.limits import ClientPatience
from assistant.api.errors import error_response
from assistant.errors import AssistantError, RequestTimeout, RequestTooLarge, ShuttingDown
from assistant.observing.logs import RequestNote, begin_note, with_fields
from assistant.observing.metrics import Metrics
from assistant.observing.tracing import TracedStep, request_span
from memory_store.scheduler import new_job

# These are answered to the very end, for those who look after the process.
_ANSWERED = ("/health", "/metrics")


@dataclass(slots=True)
class Shutdown:
    """How far the shutdown of a server is; kept in its application's state."""

    begun: bool = False
    """Whether new requests are refused."""
    out_of_patience: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when requests that still run are not waited for any longer."""


def shutting_down() -> ShuttingDown:
    """The error for requests that this server no longer answers."""
    return ShuttingDown("this server is shutting down: ask again soon", retry_after=5)


class HttpMiddleware:
    """Base of middleware around HTTP requests; other connections pass by it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        around = self.around if scope["type"] == "http" else self._app
        await around(scope, receive, send)

    async def around(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an HTTP request, before and after it is passed on."""
        raise NotImplementedError


class Draining(HttpMiddleware):
    """Refuses new requests, also those for readiness, once the application's `Shutdown` has begun.
    A request whose answer has not begun when the server's patience ends is refused, too."""

    async def around(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _ends(scope) and scope["path"] not in _ANSWERED:
            await _refuse(scope, receive, send)
            return
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if begun or not _ends(scope):
                raise
            await _refuse(scope, receive, send)


def _ends(scope: Scope) -> bool:
    shutdown: Shutdown = scope["app"].state.shutdown
    return shutdown.begun


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    await error_response(shutting_down())(scope, receive, send)


_access_log = logging.getLogger("assistant.access")
# An id may be quoted in a log line, a header and a shell, so other characters are removed.
_UNFIT = re.compile(r"[^A-Za-z0-9._:-]")
_LONGEST_ID = 128
CLIENT_LEFT = 499
"""The status of a request that nobody is answered, because the client is gone."""


class Observed(HttpMiddleware):
    """Puts `X-Request-Id` on every response: the caller's own, or a new one. Counts and logs each
    request by its route's template: paths and queries may hold what users say.

    Each request is a job of its own, whose long work takes turns with that of other jobs.
    Unforeseen failures are answered here, because the framework would answer outside of this class.
    """

    async def around(self, scope: Scope, receive: Receive, send: Send) -> None:
        note = begin_note(_request_id(scope))
        with new_job(), request_span(scope["path"], Headers(scope=scope), note.id) as span:
            await self._watched(_Seen(scope, note, span), scope, receive, send)

    async def _watched(self, seen: "_Seen", scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Message) -> None:
            seen.passing(message)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:  # the last handler of the server
            if seen.begun:
                raise
            await error_response(error)(scope, receive, watched)
        finally:
            seen.ended()


class _Seen:
    """One request on its way: its status, its time, and whether it was logged and counted."""

    def __init__(self, scope: Scope, note: RequestNote, span: TracedStep) -> None:
        self.begun = False
        self._scope = scope
        self._note = note
        self._span = span
        self._status = CLIENT_LEFT
        self._running = True
        self._started = time.perf_counter()
        self._metrics: Metrics = scope["app"].state.services.metrics
        self._metrics.request_begun()

    def passing(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            self._status = message["status"]
            MutableHeaders(scope=message)["X-Request-Id"] = self._note.id
        elif not message.get("more_body"):
            # The request is counted before the client hears the end, because the client may then
            # ask at once for the metrics.
            self.ended()

    def ended(self) -> None:
        if not self._running:
            return
        self._running = False
        seconds = time.perf_counter() - self._started
        method, route, code = _method(self._scope), _route(self._scope), self._note.error_code
        self._metrics.request_ended(method, route, self._status, seconds, code)
        self._span.answered(method, route, self._status, code)
        fields: dict[str, Any] = {"status": self._status, "ms": round(seconds * 1000, 1)}
        if code:
            fields["error"] = code
        _access_log.info("%s %s", method, route, extra=with_fields(**fields))


def _request_id(scope: Scope) -> str:
    given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    return _UNFIT.sub("", given)[:_LONGEST_ID] or f"req_{uuid.uuid4().hex}"


def _method(scope: MutableMapping[str, Any]) -> str:
    """The method, if it is one of HTTP's own: a caller may send any word."""
    known = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
    return scope["method"] if scope["method"] in known else "OTHER"


def _route(scope: MutableMapping[str, Any]) -> str:
    """The template of the route that answered; one name for files, one for what is not there."""
    route = scope.get("route")
    if route is not None:
        return str(route.path)
    return "files" if "endpoint" in scope else "none"


class ClientLeft(Exception):
    """The client is gone: nobody is there to be answered."""


class WholeBody(HttpMiddleware):
    """Reads the body before anything else does, and refuses one that is longer than `limit` bytes,
    announced or not, or that comes too slowly."""

    def __init__(self, app: ASGIApp, limit: int, patience: ClientPatience) -> None:
        super().__init__(app)
        self._limit = limit
        self._patience = patience

    async def around(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check_announced(scope)
            body = await self._read(receive)
        except ClientLeft:
            return
        except AssistantError as error:
            await error_response(error)(scope, receive, send)
            return
        await self._app(_plain(scope), replayed(body, receive), send)

    def _check_announced(self, scope: Scope) -> None:
        """Refuse a body whose Content-Length is too large, before it is read."""
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length) > self._limit:
            raise self._too_large()

    async def _read(self, receive: Receive) -> bytes:
        loop = asyncio.get_running_loop()
        begun = heard = loop.time()
        body = bytearray()
        while True:
            deadline = self._patience.body_deadline(begun, heard, len(body))
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as error:
                raise RequestTimeout("the request body was too slow or incomplete") from error
            if message["type"] == "http.disconnect":
                raise ClientLeft
            body += message.get("body", b"")
            if len(body) > self._limit:
                raise self._too_large()
            if not message.get("more_body"):
                return bytes(body)
            heard = loop.time()

    def _too_large(self) -> RequestTooLarge:
        return RequestTooLarge(
            f"the request is larger than the {self._limit} bytes this server accepts: "
            "send less in one request, or raise max_body_bytes"
        )


def _plain(scope: Scope) -> Scope:
    """The request in one form. Its body is called JSON, as all routes read it: `curl -d` calls it a
    form. Range is dropped, because all answers are whole. HEAD, which probes send, becomes GET: the
    server leaves out the body."""
    headers = MutableHeaders(scope=scope)
    headers["Content-Type"] = "application/json"
    del headers["Range"]
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read before, once, and then what the client does."""
    unread = [body]

    async def given() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return given
