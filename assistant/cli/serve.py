"""`assistant serve`: open the services, say what is in use, serve until told to stop."""

import asyncio
import errno
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import typer
import uvicorn

from assistant.access.doorkeeper import check_reachable
from assistant.app import create_app
from assistant.cli.allocator import keep_small
from assistant.errors import ConfigError
from assistant.observing.logs import configure_logs
from assistant.services import Services, open_services
from assistant.settings import HASH_EMBEDDER, Settings

_SHUTDOWN_SECONDS = 30


def run_server(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; running requests are finished first.

    Raises `ConfigError` for an address that cannot be used, and what `open_services` raises.
    """
    check_reachable(settings)
    configure_logs(settings.logs)
    keep_small()
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    with _listen(settings) as listening:
        await _serve_at(listening, settings)


async def _serve_at(listening: socket.socket, settings: Settings) -> None:
    async with open_services(settings) as services:
        config = uvicorn.Config(
            create_app(settings, services=services),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
        await _Server(config, _first_line(services, listening)).serve(sockets=[listening])


class _Server(uvicorn.Server):
    """Uvicorn's server; it says its first line when it can be reached, and a signal only ends the
    serving: uvicorn would send it again, and the process would end before the store is closed."""

    def __init__(self, config: uvicorn.Config, first_line: str) -> None:
        super().__init__(config)
        self._first_line = first_line

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        typer.echo(self._first_line)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop serving on SIGINT and SIGTERM; put the handlers back afterwards."""
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listen(settings: Settings) -> socket.socket:
    """Bound before the models load, so that a taken port is known at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Naming the protocol lets asyncio switch off Nagle's delay: 40 ms a request otherwise.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except (OSError, UnicodeError) as error:
        listening.close()
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        hint = "another server has it; choose another --port" if taken else error
        raise ConfigError(
            f"cannot listen on {settings.host}:{settings.port}: {hint}", code="wrong_setting"
        ) from error
    return listening


def _first_line(services: Services, listening: socket.socket) -> str:
    settings = services.settings
    host, port = listening.getsockname()[:2]
    embedder = settings.embedder
    if embedder == HASH_EMBEDDER:
        embedder += " (no understanding: for tests only)"
    else:
        embedder += f" ({services.embedder.path})"
    shown_url = settings.public()["qdrant_url"]
    memory = f"Qdrant at {shown_url}" if shown_url else settings.data_dir
    answers = settings.chat_model or "quotes from memory (no chat_model set)"
    return (
        f"Aide-mémoire at http://{host}:{port} · memory in {memory} "
        f"· embedder: {embedder} · answers: {answers}"
    )
