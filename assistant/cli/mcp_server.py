"""`assistant mcp`: the memory of a running assistant for MCP clients, over stdio.

Needs the optional `mcp` package. The tools call the assistant for the one user of the connection.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from assistant.cli.connection import ServerConnection
from assistant.cli.conversation import new_session_id
from assistant.mcp.tools import MemoryRoutes, memory_server

SILENT_SECONDS = 30.0
"""How long the assistant may be silent: a client that leaves waits for the running call."""


def serve(connection: ServerConnection) -> None:
    connection.check()
    memory = ConnectedMemory(connection)
    memory_server(lambda _: memory).run("stdio")


class ConnectedMemory(MemoryRoutes):
    """The memory of the connection's user. What one process remembers is one session."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._session_id = new_session_id("mcp")

    async def session_id(self) -> str:
        return self._session_id

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        receipt: bool = False,
    ) -> dict[str, Any]:
        headers = {"X-Memory-Reach": "mcp"} | ({"X-Memory-Receipt": "1"} if receipt else {})
        return await asyncio.to_thread(self._call, method, path, params or {}, body, headers)

    def _call(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any],
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
    ) -> dict[str, Any]:
        mine = {"user_id": self._connection.user_id}
        sent: dict[str, Any] = {"params": {**params, **mine}, "headers": headers}
        if body is not None:
            sent["json"] = {**body, **mine}
        return self._connection.call(method, path, **sent)
