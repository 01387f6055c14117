"""Moments when nobody is being served, for work that would make everybody wait."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

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
