"""The end of a server: what runs is finished, what comes new is sent elsewhere."""

from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.api.errors import error_response
from assistant.errors import ShuttingDown

# Asked by those who look after the process until it is gone.
_ANSWERED = ("/health", "/metrics")


class Draining:
    """Refuses new requests, readiness among them, once the application's state says `draining`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ends = scope["type"] == "http" and getattr(scope["app"].state, "draining", False)
        if ends and scope["path"] not in _ANSWERED:
            error = ShuttingDown("this server is shutting down: ask again soon", retry_after=5)
            await error_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)
