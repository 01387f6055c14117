"""How records come into the engine: linked, with keys, and only where nobody else was faster."""

from collections.abc import Iterable, Sequence

from memory_store.engines.engine import Engine, Point, Scope
from memory_store.engines.layout import TURNS
from memory_store.errors import InvalidRecord, RoundTaken
from memory_store.indexing import Indexer
from memory_store.linking import Linking
from memory_store.types import Held, Record


class Writer:
    """Writes records, with what follows from them."""

    def __init__(self, engine: Engine, indexer: Indexer, linking: Linking) -> None:
        self._engine = engine
        self._indexer = indexer
        self._linking = linking

    async def write(
        self, records: Sequence[Record], over: Held | None, *, erasing: bool = False
    ) -> list[Record]:
        """The records as written, with their links. `over` as in `MemoryStore.remember`; `erasing`
        where no trace of what they said before shall stay."""
        linked = await self._linking.before_writing(records)
        points = await self._indexer.points(linked)
        if over is None:
            await self._engine.upsert(points)
        elif points:
            owner = records[0].round.user_id
            await self._claim(points, over, owner=owner, erasing=erasing)
        return linked

    async def held(self, user_id: str, round_ids: Iterable[str]) -> Held:
        """Which turns the rounds of these ids hold now; nothing of those that are not there."""
        hits = await self._engine.scroll(Scope(user_id, ids=tuple(round_ids)), [TURNS])
        return {hit.id: tuple(hit.payload[TURNS]) for hit in hits}

    async def _claim(
        self, points: Sequence[Point], over: Held, *, owner: str, erasing: bool
    ) -> None:
        """Write points where nobody else has written meanwhile."""
        ours = {point.id: tuple(point.payload[TURNS]) for point in points}
        if any(point.payload["user_id"] != owner for point in points) or not set(over) <= set(ours):
            raise InvalidRecord("rounds are written over those of the same user and place only")
        # What was deleted meanwhile would be made again: the condition is about what exists.
        free = not over or await self.held(owner, over) == over
        if free:
            await self._engine.upsert(points, over, erasing=erasing)
        if not free or await self.held(owner, ours) != ours:
            raise RoundTaken("another writer changed this session: read it again")
