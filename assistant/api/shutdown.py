"""The end of a server: what runs is finished, what comes new is sent elsewhere."""

import asyncio
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.errors import error_response
from assistant.errors import ShuttingDown

# Asked by those who look after the process until it is gone.
_ANSWERED = ("/health", "/metrics")


@dataclass(slots=True)
class Shutdown:
    """How far the end of a server is, for its application's state."""

    begun: bool = False
    """Whether what comes new is sent elsewhere."""
    out_of_patience: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when what still runs is not waited for any longer."""


def shutting_down() -> ShuttingDown:
    """What is said to those whom this server answers no more."""
    return ShuttingDown("this server is shutting down: ask again soon", retry_after=5)


class Draining:
    """Once the application's `Shutdown` has begun, refuses new requests, readiness among them. Who
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
    shutdown: Shutdown = scope["app"].state.shutdown
    return shutdown.begun


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    await error_response(shutting_down())(scope, receive, send)
