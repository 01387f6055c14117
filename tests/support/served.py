"""An ASGI application behind a real socket: uvicorn in a thread on a free port of 127.0.0.1."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn

_START_SECONDS = 60.0


class _Server(uvicorn.Server):
    """Ends as soon as it is told to; uvicorn's own looks ten times a second."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop, self._told = asyncio.get_running_loop(), asyncio.Event()
        await super().startup(sockets)

    async def main_loop(self) -> None:
        await self.on_tick(0)  # makes the headers that every answer has
        await self._told.wait()

    def end(self) -> None:
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._told.set)


@contextmanager
def served(
    app: Any,
    *,
    lifespan: bool = True,
    port: int = 0,
    certificate: Path | None = None,
    config: uvicorn.Config | None = None,
    send_buffer: int | None = None,
) -> Iterator[str]:
    """Serve the application and give its base URL; stop it at the end. Port 0 is any free one.
    With a file of a certificate and its key, it is https. `config` says all else otherwise;
    `send_buffer` is how many bytes the system takes of an answer that nobody reads yet."""
    # Naming TCP lets the event loop switch off Nagle's algorithm: 40 ms a request otherwise.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if send_buffer:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    listening.bind(("127.0.0.1", port))
    config = config or uvicorn.Config(
        app,
        log_level="critical",
        lifespan="on" if lifespan else "off",
        timeout_graceful_shutdown=2,
        ssl_certfile=certificate,
    )
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        _wait_for(server, thread)
        scheme = "https" if certificate else "http"
        yield f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.end()
        thread.join(_START_SECONDS)
        listening.close()


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the application did not start")
        time.sleep(0.005)
