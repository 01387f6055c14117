"""How many requests may be under way at a time, and what became of them.

One more while all goes well, half when the assistant is overloaded (additive increase,
multiplicative decrease, as TCP does it).
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass


@dataclass(slots=True)
class Traffic:
    """Attempts, repeated ones included. `lost` connections never gave an answer."""

    sent: int = 0
    rate_limited: int = 0
    server_errors: int = 0
    timeouts: int = 0
    lost: int = 0

    def answered(self, status: int) -> None:
        """Count an answer by its status."""
        self.rate_limited += status == 429
        self.server_errors += status >= 500

    def to_json(self) -> dict[str, int]:
        """The counts for a manifest."""
        return asdict(self)


# Statuses that ask for fewer requests; any other failure says nothing about load.
OVERLOADED = frozenset({429, 503, 529})


class Window:
    """The limit alone, without waiting. Pure."""

    def __init__(self, ceiling: int) -> None:
        if ceiling < 1:
            raise ValueError("a pace needs room for one request")
        self._ceiling = ceiling
        self._width = float(ceiling)
        self._cuts = 0

    @property
    def limit(self) -> int:
        """Requests allowed at a time."""
        return int(self._width)

    @property
    def cuts(self) -> int:
        """How often the limit was halved."""
        return self._cuts

    def succeeded(self) -> None:
        """One more request went well: the limit grows by one for each limit's worth of them."""
        self._width = min(self._ceiling, self._width + 1 / self._width)

    def overloaded(self, cuts_when_sent: int) -> None:
        """Halve the limit, once for all requests that were under way together."""
        if cuts_when_sent == self._cuts:
            self._width = max(1.0, self._width / 2)
            self._cuts += 1


class Pace:
    """Hands out turns to requests."""

    def __init__(self, ceiling: int) -> None:
        self._window = Window(ceiling)
        self._under_way = 0
        self._room = asyncio.Condition()
        self._resume_at = 0.0
        self.narrowest = ceiling

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[int]:
        """Wait for room and for the end of any pause; gives what `overloaded` wants to know."""
        async with self._room:
            await self._room.wait_for(lambda: self._under_way < self._window.limit)
            self._under_way += 1
        try:
            while (pause := self._resume_at - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            yield self._window.cuts
        finally:
            self._under_way -= 1
            async with self._room:
                self._room.notify_all()

    def succeeded(self) -> None:
        """The assistant answered well."""
        self._window.succeeded()

    def overloaded(self, cuts_when_sent: int, pause: float = 0.0) -> None:
        """The assistant asked for less, or gave no answer in time; nothing is sent for `pause`
        seconds.
        """
        self._window.overloaded(cuts_when_sent)
        self.narrowest = min(self.narrowest, self._window.limit)
        self._resume_at = max(self._resume_at, time.monotonic() + pause)
