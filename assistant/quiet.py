"""Moments when nobody is being served, for work that would make everybody wait."""

import asyncio
from collections.abc import Callable

# Together a second.
_QUIET_LOOKS, _SECONDS_BETWEEN = 10, 0.1


class QuietMoments:
    """Knows when nobody has been served for a second."""

    def __init__(self, running: Callable[[], int]) -> None:
        """`running` tells how many requests are being answered."""
        self._running = running

    async def next(self, *, within: float) -> None:
        """Return when it has been quiet for a second, or when so many seconds have passed."""
        loop = asyncio.get_running_loop()
        latest = loop.time() + within
        # Counted, not timed: who looks too late has missed what went on meanwhile.
        looks = 0
        while looks < _QUIET_LOOKS and loop.time() < latest:
            await asyncio.sleep(_SECONDS_BETWEEN)
            looks = 0 if self._running() else looks + 1
