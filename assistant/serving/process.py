"""One serving process: its address, its services, its first line."""

import asyncio
import ctypes
import errno
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import typer
import uvicorn
from fastapi import FastAPI

from assistant.access.limits import ClientPatience
from assistant.app import create_app
from assistant.errors import ConfigError
from assistant.idle_moments import QuietMoments
from assistant.observing.tracing import exporting
from assistant.services import Services, open_services
from assistant.serving.bounded_connection import ConnectionConfig
from assistant.settings import HASH_EMBEDDER, PACKAGED_EMBEDDER, Settings

_LOOK_AGAIN_SECONDS = 0.02


class ServerProcess(uvicorn.Server):
    """Serves until SIGTERM or SIGINT. Then it refuses what is new and waits for what runs, for at
    most `shutdown_seconds`; a second signal ends the process at once.

    A signal only ends the serving: uvicorn would send it again, and the process would end before
    the store is closed.
    """

    def __init__(self, app: FastAPI, services: Services, started: Callable[[], None]) -> None:
        super().__init__(
            ConnectionConfig(
                app,
                connections=services.settings.limits.connections,
                patience=ClientPatience(),
                refused=services.metrics.refused,
                # Running requests were waited for before; connections only have to be closed.
                timeout_graceful_shutdown=1,
            )
        )
        self._app = app
        self._services = services
        self._started = started
        self._draining: asyncio.Task[None] | None = None
        self._told_to_stop = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until told to stop; nothing runs any more on return."""
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)
        left = list(self.server_state.tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain at the first signal. The second one ends the process at once: the store's
        log holds all that was acknowledged."""
        if self._told_to_stop:
            signal.signal(sig, signal.SIG_DFL)
            os.kill(os.getpid(), sig)
        self._told_to_stop = True
        self._loop.call_soon_threadsafe(self._begin_to_drain)

    def _begin_to_drain(self) -> None:
        self._app.state.shutdown.begun = True
        self._draining = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        waited = self._services.settings.shutdown_seconds
        end = self._loop.time() + waited
        while self._services.metrics.running and self._loop.time() < end:
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        self._app.state.shutdown.out_of_patience.set()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Listen to the signals; put the handlers back afterwards."""
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


_NEVER = 1_000_000_000
_SECONDS_BETWEEN = 10.0
_LONGEST_PUT_OFF = 3600.0
# After so many collections of younger objects, a collection of the oldest may be worth its time.
_WORTH_A_LONG_LOOK = 10


def put_off_long_collections() -> None:
    """Leave the oldest generation to `collect_when_quiet`. What is loaded by now is frozen: the
    collector never looks at it."""
    gc.collect()
    gc.freeze()
    new, young, _ = gc.get_threshold()
    gc.set_threshold(new, young, _NEVER)


async def collect_when_quiet(moments: QuietMoments) -> None:
    """Collect the oldest generation again and again, each time when nobody is being served, or
    after an hour in any case. Never returns."""
    while True:
        await asyncio.sleep(_SECONDS_BETWEEN)
        if gc.get_count()[2] >= _WORTH_A_LONG_LOOK:
            await moments.next(until=asyncio.get_running_loop().time() + _LONGEST_PUT_OFF)
            gc.collect()


if sys.platform != "win32":
    import resource

# How long a thread that computes keeps the interpreter from others. A short answer needs it some
# ten times, each time behind threads that read long texts. Python's default is five times as long.
_SECONDS_OF_A_THREAD = 0.001
# The store's files, connections to models and to a Qdrant server.
_OTHER_FILES = 512


def serve_at(listening: socket.socket, settings: Settings, started: Callable[[str], None]) -> None:
    """Serve until told to stop; `started` gets the first line when the server can be reached."""
    allow_open_files(settings.limits.connections + _OTHER_FILES)
    # Uvicorn's choice: uvloop where there is one, which takes a tenth off every streamed answer.
    loop_factory = uvicorn.Config("", log_config=None).get_loop_factory()
    with exporting(), asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(_serve(listening, settings, started))


async def _serve(
    listening: socket.socket, settings: Settings, started: Callable[[str], None]
) -> None:
    async with open_services(settings) as services:
        line = _first_line(services, listening)
        app = create_app(settings, services=services)
        sys.setswitchinterval(_SECONDS_OF_A_THREAD)
        put_off_long_collections()
        quiet = QuietMoments(services.metrics.activity)
        collecting = asyncio.create_task(collect_when_quiet(quiet))
        await ServerProcess(app, services, lambda: started(line)).serve(sockets=[listening])
        collecting.cancel()


def allow_open_files(count: int) -> None:
    """Raise the limit of open files to `count`, as far as the system allows. A usual limit, 1,024,
    leaves too few files for the store where as many connections are allowed."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        most = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def listen(settings: Settings) -> socket.socket:
    """Bind a socket to the address of the settings. It is bound before the models load, so that a
    taken port is known at once."""
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


def say_starting(settings: Settings) -> None:
    """Say on standard error what takes a while before the first line. Say nothing where logs are
    JSON: programs read one object a line there."""
    if settings.logs.format == "json":
        return
    quick = settings.embedder in (HASH_EMBEDDER, PACKAGED_EMBEDDER)
    loading = "" if quick else f"loading {settings.embedder}, "
    typer.echo(f"starting: {loading}opening the memory in {_memory(settings)} …", err=True)


def _memory(settings: Settings) -> str:
    shown_url = settings.public()["qdrant_url"]
    return f"Qdrant at {shown_url}" if shown_url else str(settings.data_dir)


def _first_line(services: Services, listening: socket.socket) -> str:
    settings = services.settings
    host, port = listening.getsockname()[:2]
    named = f"[{host}]" if ":" in host else host
    embedder = services.embedder.identity.name
    if settings.embedder == HASH_EMBEDDER:
        embedder += " (no understanding: for tests only)"
    else:
        embedder += f" ({services.embedder.path})"
    answers = settings.chat_model.name or "quotes from memory (no chat_model set)"
    return (
        f"Aide-mémoire at http://{named}:{port} · memory in {_memory(settings)} "
        f"· embedder: {embedder} · answers: {answers}"
    )


# Numbers of glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_LARGE = 256 * 1024


def keep_small() -> None:
    """Have glibc use few arenas, and take large buffers from the system. Nothing without glibc.

    Encoding allocates and frees large buffers in several threads for hours. By default glibc keeps
    an arena a thread, raises its own thresholds until such buffers live on the heap, and returns
    little of it; a long import then ends several hundred megabytes above what is in use.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    mallopt(_M_ARENA_MAX, 2)
    mallopt(_M_MMAP_THRESHOLD, _LARGE)
    mallopt(_M_TRIM_THRESHOLD, _LARGE)
