"""Around every request: an id to quote, the last handler of failures, counts and a log line."""

import logging
import re
import time
import uuid
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.errors import error_response
from assistant.observing.logs import with_fields
from assistant.observing.metrics import Metrics
from assistant.observing.note import RequestNote, begin_note
from assistant.observing.tracing import Span, request_span

_log = logging.getLogger("assistant.access")
# What may be quoted in a log line, a header and a shell.
_UNFIT = re.compile(r"[^A-Za-z0-9._:-]")
_LONGEST_ID = 128
CLIENT_LEFT = 499
"""The status of what a client is told nothing more of, because it is gone."""


class Observed:
    """Puts `X-Request-Id` on every response: the caller's own, or a new one. Counts and logs each
    request by its route's template: paths and queries may hold what users say.

    Failures that nothing foresaw are answered here, because the framework would do so outside.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        note = begin_note(_request_id(scope))
        with request_span(scope["path"], Headers(scope=scope), note.id) as span:
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
    """One request on its way: its status, its time, and that it is told of once."""

    def __init__(self, scope: Scope, note: RequestNote, span: Span) -> None:
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
        """A message to the client."""
        if message["type"] == "http.response.start":
            self.begun = True
            self._status = message["status"]
            MutableHeaders(scope=message)["X-Request-Id"] = self._note.id
        elif not message.get("more_body"):
            # Before the client hears the end: it may ask at once what was counted.
            self.ended()

    def ended(self) -> None:
        """Count and log it."""
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
        _log.info("%s %s", method, route, extra=with_fields(**fields))


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
