"""An embedded engine that knows how much was read of it."""

from collections.abc import Sequence

from memory_store.engines import EdgeEngine
from memory_store.engines._engine import StoredPoint, UserScope


class CountingEngine(EdgeEngine):
    """Counts the points that were read."""

    reads = 0

    async def scroll(
        self, scope: UserScope, fields: Sequence[str] | None = None
    ) -> list[StoredPoint]:
        found = await super().scroll(scope, fields)
        self.reads += len(found)
        return found
