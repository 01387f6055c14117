"""Around every request: a job of its own, a bound on the body, JSON whatever it is called, HEAD
wherever GET is."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.errors import error_response
from assistant.errors import RequestTooLarge
from memory_store import new_job

_READ_ON = 16


class BodyLimit:
    """Refuses bodies over `limit` bytes, announced or not, before anything reads them."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        messages: list[Message] = []
        size = 0
        while True:
            message = await receive()
            size += len(message.get("body", b""))
            if size <= self._limit:
                messages.append(message)
            # A body that is too long is read on for a while: many clients only look at the
            # answer when they have sent everything.
            if not message.get("more_body") or size > self._limit * _READ_ON:
                break
        if size > self._limit:
            await self._refuse(scope, receive, send)
            return
        waiting = iter(messages)

        async def replayed() -> Message:
            return next(waiting, None) or await receive()

        await self._app(scope, replayed, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = RequestTooLarge(
            f"the request is larger than the {self._limit} bytes this server accepts: "
            "send less in one request, or raise max_body_bytes"
        )
        response = error_response(error)
        response.headers["Connection"] = "close"
        await response(scope, receive, send)


class JsonBody:
    """Reads every body as JSON, as all routes do: `curl -d` calls it a form."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            MutableHeaders(scope=scope)["Content-Type"] = "application/json"
        await self._app(scope, receive, send)


class HeadAsGet:
    """Answers HEAD, as probes send it, as GET; the server leaves out the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        await self._app({**scope, "method": "GET"} if is_head else scope, receive, send)


class OneJob:
    """Makes each request a job of its own, whose long work takes turns with that of others."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with new_job():
            await self._app(scope, receive, send)
