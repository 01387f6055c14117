"""How records come into the engine: linked, with keys, and only where nobody else was faster."""

from collections.abc import Iterable, Sequence

from memory_store.changes.linking import Linking
from memory_store.engines.batched_reads import scroll_in_parts
from memory_store.engines.engine import Engine, Point, Scope
from memory_store.engines.layout import TURNS
from memory_store.errors import InvalidRecord, RoundTaken
from memory_store.indexing import Indexer
from memory_store.scheduler import pause
from memory_store.types import Held, Record

# Rounds whose keys are encoded together, and of which so many are written in one go.
_ENCODED_AT_ONCE = 64
_WRITTEN_AT_ONCE = 16


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
        where no trace of what they said before shall stay.

        Some are written after the other, in order: broken off, the first of them are there.
        """
        linked = await self._linking.before_writing(records)
        if over is not None and linked:
            _check(linked, over)
        for start in range(0, len(linked), _ENCODED_AT_ONCE):
            points = await self._indexer.points(linked[start : start + _ENCODED_AT_ONCE])
            for first in range(0, len(points), _WRITTEN_AT_ONCE):
                some = points[first : first + _WRITTEN_AT_ONCE]
                if over is None:
                    await self._engine.upsert(some)
                else:
                    owner = linked[0].round.user_id
                    await self._claim(some, over, owner=owner, erasing=erasing)
                await pause()
        return linked

    async def held(self, user_id: str, round_ids: Iterable[str]) -> Held:
        """Which turns the rounds of these ids hold now; nothing of those that are not there."""
        scope = Scope(user_id, ids=tuple(round_ids))
        hits = await scroll_in_parts(self._engine, scope, [TURNS])
        return {hit.id: tuple(hit.payload[TURNS]) for hit in hits}

    async def _claim(
        self, points: Sequence[Point], over: Held, *, owner: str, erasing: bool
    ) -> None:
        """Write points where nobody else has written meanwhile."""
        ours = {point.id: tuple(point.payload[TURNS]) for point in points}
        theirs = {id: over[id] for id in ours if id in over}
        # What was deleted meanwhile would be made again: the condition is about what exists.
        free = not theirs or await self.held(owner, theirs) == theirs
        if free:
            await self._engine.upsert(points, theirs, erasing=erasing)
        if not free or await self.held(owner, ours) != ours:
            raise RoundTaken("another writer changed this session: read it again")


def _check(records: Sequence[Record], over: Held) -> None:
    owner = records[0].round.user_id
    elsewhere = any(record.round.user_id != owner for record in records)
    if elsewhere or not set(over) <= {record.id for record in records}:
        raise InvalidRecord("rounds are written over those of the same user and place only")
