"""An embedded engine that knows how much was read of it."""

from collections.abc import Sequence

import numpy as np

from memory_store import Record
from memory_store._points import to_point
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


async def write(engine: EdgeEngine, *records: Record) -> None:
    """Records without keys, into a memory whose keys have four dimensions."""
    no_keys = np.empty((0, 4), np.float32)
    await engine.upsert([to_point(record, no_keys) for record in records])
