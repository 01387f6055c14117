"""Around every request: a job of its own, bounds on the body, one form whatever it was called."""

import asyncio
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.access.patience import Patience
from assistant.api.errors import error_response
from assistant.errors import AssistantError, RequestTimeout, RequestTooLarge
from memory_store.scheduler import new_job


class ClientLeft(Exception):
    """The client is gone: nobody is there to be answered."""


class WholeBody:
    """Reads the body before anything else does, and refuses one that is longer than `limit` bytes,
    announced or not, or that comes too slowly."""

    def __init__(self, app: ASGIApp, limit: int, patience: Patience) -> None:
        self._app = app
        self._limit = limit
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check_announced(scope)
            body = await self._read(receive)
        except ClientLeft:
            return
        except AssistantError as error:
            await error_response(error)(scope, receive, send)
            return
        await self._app(scope, _Replayed(body, receive).next, send)

    def _check_announced(self, scope: Scope) -> None:
        """What is too long by its own account is not even begun."""
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


@dataclass(slots=True)
class _Replayed:
    """The body that was read, once; then whatever the client does."""

    body: bytes
    receive: Receive
    given: bool = field(default=False)

    async def next(self) -> Message:
        if self.given:
            return await self.receive()
        self.given = True
        return {"type": "http.request", "body": self.body, "more_body": False}


class PlainRequest:
    """Reads every body as JSON, as all routes do: `curl -d` calls it a form. Answers as a whole,
    whatever part is asked for, and HEAD, as probes send it, as GET: the server leaves out the body.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = MutableHeaders(scope=scope)
            headers["Content-Type"] = "application/json"
            del headers["Range"]
            if scope["method"] == "HEAD":
                scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


class OneJob:
    """Makes each request a job of its own, whose long work takes turns with that of others."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with new_job():
            await self._app(scope, receive, send)
