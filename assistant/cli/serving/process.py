"""One serving process: its address, its services, its first line."""

import asyncio
import errno
import gc
import socket
import sys
from collections.abc import Callable

import typer
import uvicorn

from assistant.app import create_app
from assistant.cli.serving.server import Server
from assistant.errors import ConfigError
from assistant.observing.tracing import exporting
from assistant.quiet import QuietMoments
from assistant.services import Services, open_services
from assistant.settings import HASH_EMBEDDER, PACKAGED_EMBEDDER, Settings

_NEVER = 1_000_000_000
_SECONDS_BETWEEN = 10.0
_LONGEST_PUT_OFF = 3600.0
# Short looks at what is new since the last long one, each of which leaves little.
_WORTH_A_LONG_LOOK = 10


def put_off_long_collections() -> None:
    """Leave the oldest generation to `collect_when_quiet`; what was loaded is never looked at."""
    gc.collect()
    gc.freeze()
    new, young, _ = gc.get_threshold()
    gc.set_threshold(new, young, _NEVER)


async def collect_when_quiet(moments: QuietMoments) -> None:
    """Collect the oldest generation while nobody is served, after an hour in any case; for ever."""
    while True:
        await asyncio.sleep(_SECONDS_BETWEEN)
        if gc.get_count()[2] >= _WORTH_A_LONG_LOOK:
            await moments.next(until=asyncio.get_running_loop().time() + _LONGEST_PUT_OFF)
            gc.collect()


if sys.platform != "win32":
    import resource

# How long a thread that computes keeps the interpreter from others. A short answer needs it some
# ten times, each time behind threads that read long texts: by default they keep it five times as
# long.
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
        await Server(app, services, lambda: started(line)).serve(sockets=[listening])
        collecting.cancel()


def allow_open_files(count: int) -> None:
    """Let this process have so many files open, as far as the system lets it: of 1,024, a usual
    limit, too few are left where as many connections are allowed."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        most = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def listen(settings: Settings) -> socket.socket:
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


def say_starting(settings: Settings) -> None:
    """Say on standard error what takes a while before the first line; not to programs, which read
    an object a line there."""
    if settings.logs.format == "json":
        return
    quick = settings.embedder in (HASH_EMBEDDER, PACKAGED_EMBEDDER)
    loading = "" if quick else f"loading {settings.embedder}, "
    typer.echo(f"starting: {loading}opening the memory in {_memory(settings)} …", err=True)


def _memory(settings: Settings) -> str:
    """Where the memory is, without secrets."""
    shown_url = settings.public()["qdrant_url"]
    return f"Qdrant at {shown_url}" if shown_url else str(settings.data_dir)


def _first_line(services: Services, listening: socket.socket) -> str:
    settings = services.settings
    host, port = listening.getsockname()[:2]
    embedder = services.embedder.identity.name
    if settings.embedder == HASH_EMBEDDER:
        embedder += " (no understanding: for tests only)"
    else:
        embedder += f" ({services.embedder.path})"
    answers = settings.chat_model.name or "quotes from memory (no chat_model set)"
    return (
        f"Aide-mémoire at http://{_in_url(host)}:{port} · memory in {_memory(settings)} "
        f"· embedder: {embedder} · answers: {answers}"
    )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
