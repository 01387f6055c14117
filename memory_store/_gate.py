"""A gate for those who may work side by side and for one who must be alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Lets many in side by side; and one who must be alone, once they have left."""

    def __init__(self) -> None:
        self._inside = 0
        self._turn = asyncio.Lock()
        self._left = asyncio.Event()
        self._left.set()

    @asynccontextmanager
    async def beside_others(self) -> AsyncIterator[None]:
        """Be one of many. Whoever is inside does not come in again: it might wait for itself."""
        async with self._turn:
            self._inside += 1
            self._left.clear()
        try:
            yield
        finally:
            self._inside -= 1
            if not self._inside:
                self._left.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Be the only one; who comes now waits."""
        async with self._turn:
            await self._left.wait()
            yield
