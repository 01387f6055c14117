"""`assistant serve`: in this process, or in several at one address, on one Qdrant server."""

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import sys
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from tempfile import TemporaryDirectory
from threading import Thread
from types import FrameType

import typer

from assistant.access.doorkeeper import check_reachable, is_loopback
from assistant.errors import AssistantError, ConfigError
from assistant.observing.logs import configure_logs
from assistant.observing.shared_metrics import FOLDER
from assistant.services import shared_keys
from assistant.serving.process import keep_small, listen, say_starting, serve_at
from assistant.settings import Settings
from memory_store.errors import MemoryStoreError

_log = logging.getLogger(__name__)
_REFUSED = 2


def run_server(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; running requests are finished first.

    Raises `ConfigError` for an address that cannot be used, and what `open_services` raises.
    """
    shared = () if is_loopback(settings.host) else asyncio.run(shared_keys(settings))
    check_reachable(settings, shared)
    check_workers(settings)
    configure_logs(settings.logs)
    if settings.workers > 1:
        run_workers(settings)
        return
    keep_small()
    with listen(settings) as listening:
        say_starting(settings)
        serve_at(listening, settings, typer.echo)


def check_workers(settings: Settings) -> None:
    """Raise `ConfigError` where the memory cannot be shared."""
    if settings.workers > 1 and not settings.qdrant_url:
        raise ConfigError(
            "several workers need their memory on a Qdrant server: set qdrant_url. An embedded "
            "memory belongs to one process",
            code="wrong_setting",
        )


def run_workers(settings: Settings) -> None:
    """Serve with `settings.workers` processes until told to stop; one that dies is replaced."""
    with listen(settings) as listening, TemporaryDirectory(prefix="assistant-metrics-") as folder:
        os.environ.setdefault(FOLDER, folder)
        say_starting(settings)
        sys.exit(_Crew(settings, listening).run())


class _Crew:
    def __init__(self, settings: Settings, listening: socket.socket) -> None:
        self._settings = settings
        self._listening = listening
        self._spawn = multiprocessing.get_context("spawn")
        self._workers: list[BaseProcess] = []
        self._stopping = False

    def run(self) -> int:
        """Run the workers until told to stop. Return the exit code: `_REFUSED` where a worker could
        not begin at the start, else 0."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._told_to_stop)
        first_line = ""
        for _ in range(self._settings.workers):
            line = self._started()
            if line is None:
                self._stop()
                self._joined()
                return 0 if self._stopping and not first_line else _REFUSED
            first_line = first_line or line
        typer.echo(f"{first_line} · {self._settings.workers} workers")
        while not self._stopping:
            wait([worker.sentinel for worker in self._workers])
            self._replace_the_dead()
        self._joined()
        return 0

    def _started(self) -> str | None:
        """Begin one more worker. Return its first line, or None if it could not begin."""
        ours, theirs = self._spawn.Pipe(duplex=False)
        arguments = (self._settings, self._listening, theirs)
        worker = self._spawn.Process(target=_work, args=arguments)
        worker.start()
        theirs.close()
        self._workers.append(worker)
        try:
            return str(ours.recv())
        except EOFError:
            return None

    def _replace_the_dead(self) -> None:
        for worker in [worker for worker in self._workers if not worker.is_alive()]:
            self._workers.remove(worker)
            if not self._stopping:
                _log.error("worker exited with code %s; starting another", worker.exitcode)
                self._started()

    def _told_to_stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True
        self._stop()

    def _stop(self) -> None:
        for worker in self._workers:
            if worker.is_alive():
                worker.terminate()

    def _joined(self) -> None:
        for worker in self._workers:
            worker.join()


def _work(settings: Settings, listening: socket.socket, parent: Connection) -> None:
    """Run one worker. It ignores a terminal's SIGINT, which only the parent acts on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    configure_logs(settings.logs)
    keep_small()

    def started(line: str) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        parent.send(line)
        parent.close()

    try:
        serve_at(listening, settings, started)
    except (AssistantError, MemoryStoreError) as error:
        typer.echo(f"assistant: {error}", err=True)
        sys.exit(_REFUSED)


def _end_with_parent() -> None:
    """Drain this worker when its parent has ended: else it would keep the address to itself."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
