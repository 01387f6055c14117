"""Streamable HTTP: one POST holds one message and is answered by one JSON body."""

import logging
from collections.abc import Callable
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from assistant.mcp.tools import MemoryRoutes, memory_server


class StreamableHttp:
    """The tools as an ASGI application without sessions: nothing is kept between two requests.

    Host and Origin are those of the server that it stands in (`api/access.py`), which is why the
    SDK's own checks of them are off.
    """

    def __init__(self, memory_of: Callable[[Any], MemoryRoutes]) -> None:
        # It tells of every request; what that was is in the access log.
        logging.getLogger("mcp").setLevel(logging.WARNING)
        server = memory_server(memory_of)
        server.streamable_http_app(stateless_http=True)
        self._server = server.session_manager.app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. What it starts ends with it: a manager can run only once, and one for
        all would need a task of its own."""
        manager = StreamableHTTPSessionManager(self._server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)
