"""Moments when nobody is being served, for work that would make everybody wait; and such work: text
that was forgotten leaves the disk by itself, some time after it was forgotten.

The store tells when so much was forgotten that its files are worth writing anew. That is looked at
a while after something was forgotten, and after a start, and begun when nobody is being served: at
its end, when new files take the place of the old ones, everybody has to wait."""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from memory_store import MemoryStore
from memory_store.errors import MemoryStoreError
from memory_store.scheduler import new_job

# Together a second.
_QUIET_LOOKS, _SECONDS_BETWEEN = 10, 0.1


class Activity(NamedTuple):
    """How busy a server is."""

    begun: int
    """Requests so far."""
    running: int
    """Requests being answered."""


class QuietMoments:
    """Knows when nobody has been served for a second."""

    def __init__(self, activity: Callable[[], Activity]) -> None:
        self._activity = activity

    async def next(self, *, until: float) -> None:
        """Return when nobody has been served for a second, or at this time of the loop's clock."""
        loop = asyncio.get_running_loop()
        before = self._activity()
        # Counted, not timed: who looks too late has missed what went on meanwhile.
        looks = 0
        while looks < _QUIET_LOOKS and loop.time() < until:
            await asyncio.sleep(_SECONDS_BETWEEN)
            now = self._activity()
            looks = looks + 1 if now == (before.begun, 0) else 0
            before = now


_log = logging.getLogger(__name__)

# People who forget something mostly forget more.
_PAUSE_SECONDS = 60.0
# Work is put off no longer than this where it is never quiet.
_LONGEST_PUT_OFF = 3600.0


class Scrubbing:
    """Scrubs a store in the background when that is due."""

    def __init__(
        self, store: MemoryStore, quiet: QuietMoments, *, pause_seconds: float = _PAUSE_SECONDS
    ) -> None:
        self._store = store
        self._quiet = quiet
        self._pause_seconds = pause_seconds
        self._waiting: asyncio.Task[None] | None = None
        self._latest: float | None = None
        """When it is done whoever is being served, by the clock of the loop."""
        self._running: asyncio.Task[None] | None = None

    def forgotten(self) -> None:
        """Something was forgotten or put right, now or before the start."""
        if self._waiting:
            self._waiting.cancel()
        if self._latest is None:
            self._latest = asyncio.get_running_loop().time() + _LONGEST_PUT_OFF
        self._waiting = asyncio.create_task(self._wait(self._latest))

    async def close(self) -> None:
        """Stop. A scrub under way is given up: it is due again after the next start."""
        for task in filter(None, (self._waiting, self._running)):
            task.cancel()
            await asyncio.wait([task])

    async def _wait(self, latest: float) -> None:
        left = latest - asyncio.get_running_loop().time()
        await asyncio.sleep(min(self._pause_seconds, left))
        await self._quiet.next(until=latest)
        if self._running:
            await asyncio.wait([self._running])
        self._latest = None
        self._running = asyncio.create_task(self._scrub())

    async def _scrub(self) -> None:
        # Nobody's: it would else be the work of whoever forgot something last.
        with new_job():
            try:
                if await self._store.scrub(if_due=True):
                    _log.info("scrub done: forgotten text removed from disk")
            except MemoryStoreError as error:
                _log.warning("scrub failed, forgotten text is still on disk: %s", error)
