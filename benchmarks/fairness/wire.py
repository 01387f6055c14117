"""Requests over raw sockets, so that sending them and reading their replies costs little itself."""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class NamedRequest:
    """One request, by a name to show."""

    name: str
    method: str
    path: str
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a request: its status (0 where there is none) and how long it took."""

    name: str
    status: int
    seconds: float
    bytes: int = 0
    begins: str = ""


def posting(name: str, path: str, body: Any, method: str = "POST") -> NamedRequest:
    """A request with a body of JSON."""
    return NamedRequest(name, method, path, json.dumps(body, ensure_ascii=False).encode())


async def ask(
    port: int, asked: NamedRequest, *, since: float | None = None, within: float = 600
) -> Done:
    """Send one request on a connection of its own and read its reply, which is thrown away. Counted
    from the moment that it should have been sent, if that is given."""
    began = time.perf_counter() if since is None else since
    try:
        async with asyncio.timeout(within):
            status, size, begins = await _asked(port, asked)
    except (OSError, TimeoutError, ValueError, IndexError) as error:
        return Done(asked.name, 0, time.perf_counter() - began, 0, repr(error))
    return Done(asked.name, status, time.perf_counter() - began, size, begins)


async def _asked(port: int, asked: NamedRequest) -> tuple[int, int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        head = f"{asked.method} {asked.path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
        head += f"content-length: {len(asked.body)}\r\n\r\n"
        writer.write(head.encode() + asked.body)
        status = int((await reader.readline()).split()[1])
        size, begins = 0, b""
        while piece := await reader.read(_CHUNK):
            size += len(piece)
            begins = begins or piece.partition(b"\r\n\r\n")[2][:120]
        return status, size, begins.decode(errors="replace")
    finally:
        writer.close()
