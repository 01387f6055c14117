"""Moments when nobody is being served, and the scrub that waits for one: it takes forgotten text
off the disk, some time after the text was forgotten.

The store tells when so much was forgotten that its files are worth rewriting. It is asked a while
after something was forgotten, and after a start. A scrub begins when nobody is being served,
because everybody has to wait at its end, when new files replace the old ones."""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from memory_store import MemoryStore
from memory_store.errors import MemoryStoreError
from memory_store.scheduler import new_job

# Together these make one second.
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
        # Looks are counted, not timed: a look that comes late has missed what went on meanwhile.
        looks = 0
        while looks < _QUIET_LOOKS and loop.time() < until:
            await asyncio.sleep(_SECONDS_BETWEEN)
            now = self._activity()
            looks = looks + 1 if now == (before.begun, 0) else 0
            before = now


_log = logging.getLogger(__name__)

# A user who forgets something often forgets more soon after: one scrub then does for all.
_PAUSE_SECONDS = 60.0
# The longest time that work is put off on a server that is never quiet.
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
        """When to scrub even if somebody is being served, by the clock of the loop."""
        self._running: asyncio.Task[None] | None = None

    def forgotten(self) -> None:
        """Plan a scrub: something was forgotten or corrected, now or before the start."""
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
        # A job without an owner: else the scrub would count as work of the last user to forget.
        with new_job():
            try:
                if await self._store.scrub(if_due=True):
                    _log.info("scrub done: forgotten text removed from disk")
            except MemoryStoreError as error:
                _log.warning("scrub failed, forgotten text is still on disk: %s", error)
