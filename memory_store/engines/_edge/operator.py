"""The embedded engine as operators use it: see `OperatorEngine`."""

import shutil
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import qdrant_edge as qe

from memory_store.engines._edge.engine import EdgeEngine
from memory_store.engines._edge.rewriting import finish_swap, next_to, old_of, repaired, swap
from memory_store.engines._edge.shard import Shard, payload_of, vectors_of
from memory_store.engines._engine import Payload, Point
from memory_store.engines._layout import IDENTITY_ID
from memory_store.engines._operator import following
from memory_store.errors import StoreMissing, StoreUnavailable


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result of a repair; rounds are given by their ids."""

    place: str
    kept: int
    """How many rounds there are now."""
    missing: tuple[str, ...]
    """Rounds that were acknowledged and were not there."""
    altered: tuple[str, ...]
    """Rounds that were not as they were written; they are left out."""
    older: tuple[str, ...]
    """Rounds that lack their last change; they are kept."""
    returned: tuple[str, ...]
    """Rounds that had been forgotten and were there again; they are left out."""

    @property
    def lost(self) -> frozenset[str]:
        """The rounds that a backup may bring back."""
        return frozenset((*self.missing, *self.altered))


class EdgeOperator(EdgeEngine):
    """All of one embedded shard. While it is open, no assistant can have the directory."""

    shared = False

    def __init__(self, directory: Path, *, index: str | None = None) -> None:
        super().__init__(directory)
        self._home = directory
        if index is not None:
            self._directory = directory / index

    @property
    def place(self) -> str:
        """The full path of the folder."""
        return str(self._directory.resolve())

    async def open_existing(self) -> Payload | None:
        with self._explaining():
            finish_swap(self._directory)
            found = self._directory.exists()
        return await self.open(0) if found else None

    async def sign(self, identity: Payload) -> None:
        """Write the identity; durable on return."""
        await self.write_identity(identity)

    async def total(self) -> int:
        """How many rounds all users have."""
        return self._shard.count(qe.Filter(must_not=[qe.HasIdCondition({IDENTITY_ID})]))

    async def browse(self, after: str | None, limit: int, *, with_keys: bool) -> list[Point]:
        page, _ = self._shard.page(
            None, following(after), limit=limit, with_payload=True, with_vector=with_keys
        )
        return [Point(str(one.id), *vectors_of(one), payload_of(one)) for one in page]

    async def remove(self, ids: Sequence[str]) -> None:
        """Delete rounds by id."""
        if ids:
            async with self._writing({}) as shard:
                await self._delete(shard, qe.Filter(must=[qe.HasIdCondition(set(ids))]))

    def successor(self) -> "EdgeOperator":
        """The shard in the sibling folder."""
        return EdgeOperator(self._home, index=next_to(self._directory).name)

    async def hand_over(self) -> None:
        """Put the successor in place by two renames; the next opening mends a crash between them.

        The lock is released before, because closing writes to the folder. A process that opens the
        old shard in that moment finds that it takes no writes.
        """
        await self.close()
        try:
            swap(self._directory, next_to(self._directory), old_of(self._directory))
        except OSError as error:
            raise StoreUnavailable(f"cannot rename {self._directory}: {error}") from error

    async def repair(self) -> Repaired:
        """Move all whole rounds to new files, open these, and report the rest. The damaged files
        are deleted. Raises `StoreMissing`, and `StoreDamaged` if nothing can be read."""
        finish_swap(self._directory)
        if not self._directory.exists():
            raise StoreMissing(f"there is no memory in {self.place}")
        self._open_shard, found = await repaired(self._directory, self._durability)
        return Repaired(
            place=self.place,
            kept=await self.total(),
            missing=_ids(found.missing),
            altered=_ids(found.altered),
            older=_ids(found.older),
            returned=_ids(found.returned),
        )

    async def drop(self) -> None:
        """Delete the folder."""
        await self.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    async def drop_retired(self) -> None:
        """Delete the folder that `hand_over` left."""
        shutil.rmtree(old_of(self._directory), ignore_errors=True)


class RunningEdge(EdgeOperator):
    """The shard that an assistant has open. It can be read, and replaced by its successor, while
    the assistant goes on."""

    def __init__(self, engine: EdgeEngine) -> None:
        super().__init__(engine.directory.parent, index=engine.directory.name)
        self._running = engine

    @property
    def _shard(self) -> Shard:
        return self._running.shard

    async def open_existing(self) -> Payload | None:
        """The identity of the open shard."""
        return await self.identity()

    async def hand_over(self) -> None:
        """See `EdgeEngine.go_on_with`."""
        await self._running.go_on_with(next_to(self._directory))

    async def drop_retired(self) -> None:
        """Delete the shards that handed over, now or before."""
        await self._running.drop_replaced()
        await super().drop_retired()

    async def close(self) -> None:
        """Do nothing, as the assistant goes on using the shard."""


def _ids(found: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(sorted(str(uuid.UUID(bytes=id)) for id in found))
