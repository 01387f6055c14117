"""Text that was forgotten leaves the disk by itself, some time after it was forgotten.

The store tells when so much was forgotten that its files are worth writing anew. That is looked at
a while after something was forgotten, and after a start; never while people are waiting for it.
"""

import asyncio
import logging

from memory_store import MemoryStore, MemoryStoreError

_log = logging.getLogger(__name__)

# People who forget something mostly forget more.
_PAUSE_SECONDS = 60.0


class Scrubbing:
    """Scrubs a store in the background when that is due."""

    def __init__(self, store: MemoryStore, *, pause_seconds: float = _PAUSE_SECONDS) -> None:
        self._store = store
        self._pause_seconds = pause_seconds
        self._timer: asyncio.TimerHandle | None = None
        self._running: asyncio.Task[None] | None = None

    def forgotten(self) -> None:
        """Something was forgotten or put right, now or before the start."""
        if self._timer:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._pause_seconds, self._launch)

    async def close(self) -> None:
        """Stop. A scrub under way is finished."""
        if self._timer:
            self._timer.cancel()
        if self._running:
            await self._running

    def _launch(self) -> None:
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._scrub())

    async def _scrub(self) -> None:
        try:
            if await self._store.scrub(if_due=True):
                _log.info("what was forgotten was taken off the disk")
        except MemoryStoreError as error:
            _log.warning("what was forgotten is still on the disk: %s", error)
