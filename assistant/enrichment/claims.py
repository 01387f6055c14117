"""Which rounds this process may enrich: leases, told in the rounds, kept for as long as it works.

Several workers on one memory know of the same rounds. Whoever claims one first calls the model; it
gives the claim back when it stops. A process that was killed keeps nothing: when its leases are
over, others take its rounds.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from assistant.clock import Clock
from memory_store import MemoryStore, Round
from memory_store.engines import Claim
from memory_store.errors import MemoryStoreError

_log = logging.getLogger(__name__)
# How often a lease is renewed while it lasts.
_RENEWALS = 3


class Claims:
    """The claims of one process."""

    def __init__(self, store: MemoryStore, clock: Clock, *, lease_seconds: float) -> None:
        self._store = store
        self._clock = clock
        self._lease = timedelta(seconds=lease_seconds)
        self._by = uuid.uuid4().hex

    @asynccontextmanager
    async def on(self, rounds: Sequence[Round]) -> AsyncIterator[list[Round]]:
        """Those of these rounds of one user that nobody else is enriching; ours meanwhile."""
        ours = await self._claim(rounds, self._lease)
        if not ours:
            yield ours
            return
        renewing = asyncio.create_task(self._renew(ours))
        try:
            yield ours
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            # Those that were enriched are claimed by nobody any more.
            with suppress(MemoryStoreError):
                await self._claim(ours, timedelta(0))

    async def _renew(self, rounds: Sequence[Round]) -> None:
        while True:
            await asyncio.sleep(self._lease.total_seconds() / _RENEWALS)
            try:
                await self._claim(rounds, self._lease)
            except MemoryStoreError as error:
                _log.warning("could not renew the lease on rounds being extracted: %s", error)

    async def _claim(self, rounds: Sequence[Round], lasting: timedelta) -> list[Round]:
        now = self._clock()
        return await self._store.claim(rounds, Claim(self._by, now + lasting), now)
