"""An ASGI application behind a real socket: uvicorn in a thread on a free port of 127.0.0.1."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

_START_SECONDS = 60.0


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
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        _wait_for(server, thread)
        scheme = "https" if certificate else "http"
        yield f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_START_SECONDS)
        listening.close()


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the application did not start")
        time.sleep(0.005)
