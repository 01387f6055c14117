"""The end of a server: what runs is finished, what comes new is sent elsewhere."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.errors import error_response
from assistant.errors import ShuttingDown

# Asked by those who look after the process until it is gone.
_ANSWERED = ("/health", "/metrics")


class Draining:
    """Once the application's state says `draining`, refuses new requests, readiness among them. Who
    was not answered when the server's patience ended is told so, too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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
    return bool(getattr(scope["app"].state, "draining", False))


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    error = ShuttingDown("this server is shutting down: ask again soon", retry_after=5)
    await error_response(error)(scope, receive, send)
