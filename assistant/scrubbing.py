"""Text that was forgotten leaves the disk by itself, some time after it was forgotten.

The store tells when so much was forgotten that its files are worth writing anew. That is looked at
a while after something was forgotten, and after a start, once nobody is being served: at its end,
which is the end of the old files, everybody has to wait.
"""

import asyncio
import logging

from assistant.quiet import QuietMoments
from memory_store import MemoryStore, MemoryStoreError, new_job

_log = logging.getLogger(__name__)

# People who forget something mostly forget more.
_PAUSE_SECONDS = 60.0
# Where it is never quiet, it is done in spite of that.
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
        self._running: asyncio.Task[None] | None = None

    def forgotten(self) -> None:
        """Something was forgotten or put right, now or before the start."""
        if self._waiting:
            self._waiting.cancel()
        self._waiting = asyncio.create_task(self._wait())

    async def close(self) -> None:
        """Stop. A scrub under way is given up: it is due again after the next start."""
        for task in filter(None, (self._waiting, self._running)):
            task.cancel()
            await asyncio.wait([task])

    async def _wait(self) -> None:
        await asyncio.sleep(self._pause_seconds)
        await self._quiet.next(within=_LONGEST_PUT_OFF)
        if self._running:
            await asyncio.wait([self._running])
        self._running = asyncio.create_task(self._scrub())

    async def _scrub(self) -> None:
        # Nobody's: it would else be the work of whoever forgot something last.
        with new_job():
            try:
                if await self._store.scrub(if_due=True):
                    _log.info("what was forgotten was taken off the disk")
            except MemoryStoreError as error:
                _log.warning("what was forgotten is still on the disk: %s", error)
