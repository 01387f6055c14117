"""Uvicorn's server, ended so that nothing is lost: a first signal drains it, a second ends it."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from assistant.access.patience import Patience
from assistant.cli.serving.connection import ConnectionConfig
from assistant.services import Services

_LOOK_AGAIN_SECONDS = 0.02


class Server(uvicorn.Server):
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
                patience=Patience(),
                refused=services.metrics.refused,
                # What runs was waited for before; connections only have to be closed.
                timeout_graceful_shutdown=1,
            )
        )
        self._app = app
        self._services = services
        self._started = started
        self._draining: asyncio.Task[None] | None = None
        self._told_to_stop = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
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
        """A signal arrived. The second one ends the process as it is: the store's log holds all
        that was acknowledged."""
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
