"""A memory's files written anew, with what is kept and nothing else.

The engine frees the room of what is deleted or written over, but leaves its bytes; its log keeps
them, too. So a scrub copies every point to a new shard, as it is and with its keys, and the new one
takes the place of the old one, which goes on serving until then.
The same leaves out what is damaged, when a memory is repaired.
"""

import asyncio
import shutil
import uuid
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import qdrant_edge as qe

from memory_store.engines.edge.errors import explaining
from memory_store.engines.edge.integrity import is_whole, marks_of
from memory_store.engines.edge.ledger import Account, Entry, Kind, Ledger, read_ledger
from memory_store.engines.edge.opening import Comparison, compare, create, mark, pages
from memory_store.engines.edge.points import to_edge
from memory_store.engines.edge.seal import unseal
from memory_store.engines.edge.shard import LEDGER, Shard, vectors_of
from memory_store.engines.edge.swap import gone_of, scrubbed_of, swap
from memory_store.engines.edge.sync import Durability, Gate, sync_tree
from memory_store.engines.engine import Point
from memory_store.engines.layout import IDENTITY_ID
from memory_store.errors import StoreDamaged

# Rounds of catching up with writers before they have to wait.
_CATCHING_UP = 5


class Copy:
    """A new shard beside a folder, on its way to take its place."""

    def __init__(self, source: qe.EdgeShard, folder: Path, dimension: int) -> None:
        self._source = source
        self._folder = folder
        self._building = scrubbed_of(folder)
        shutil.rmtree(self._building, ignore_errors=True)
        create(self._building, dimension)
        self._shard = qe.EdgeShard.load(str(self._building))
        self._account = Account()

    async def fill(self, leaving_out: Collection[bytes] = ()) -> None:
        """Copy every point but these. Others have their turn between two pages."""
        for page in pages(self._source):
            self._add(point for point in page if point.id.bytes not in leaving_out)
            await asyncio.sleep(0)

    def renew(self, ids: Collection[uuid.UUID]) -> None:
        """Copy these points again, as they are now: changed, or gone."""
        if not ids:
            return
        found = self._source.retrieve(list(ids), with_payload=True, with_vector=True)
        if gone := set(ids) - {point.id for point in found}:
            self._shard.update(qe.UpdateOperation.delete_points(list(gone)))
            for id in gone:
                self._account.held.pop(id.bytes, None)
        self._add(found)

    def _add(self, points: Iterable[Any]) -> None:
        copied = []
        for point in points:
            marks = marks_of(point.payload or {})
            if marks is None or not is_whole(point.payload):
                raise StoreDamaged(
                    f"point {point.id} of the memory in {self._folder} is damaged: stop the "
                    "assistant and run `assistant repair`"
                )
            self._account.held[point.id.bytes] = Entry(
                Kind.HELD, marks.write, point.id.bytes, marks.digest_bytes
            )
            copied.append(to_edge(Point(str(point.id), *vectors_of(point), point.payload)))
        if copied:
            self._shard.update(qe.UpdateOperation.upsert_points(copied))

    async def sync(self) -> None:
        """Put on the disk what there is, so that little is left to do at the end."""
        self._shard.flush()
        await asyncio.to_thread(sync_tree, self._building)

    def take_over(self, last: int, durability: Durability) -> Shard:
        """Put the copy in the folder's place, whose shard must be closed, and open it there."""
        self._account.last = last
        self._shard.close()
        Ledger.create(self._building / LEDGER, self._account).close()
        sync_tree(self._building)
        swap(self._folder, self._building, gone_of(self._folder))
        shutil.rmtree(gone_of(self._folder), ignore_errors=True)
        shard = qe.EdgeShard.load(str(self._folder))
        ledger = Ledger(self._folder / LEDGER)
        return Shard(self._folder, shard, ledger, durability, last=last)


async def repaired(folder: Path, durability: Durability) -> tuple[Shard, Comparison]:
    """A shard of all that is whole in a folder, put in its place, and what was found there.

    What was forgotten is left out, too, where damage has brought it back. Raises `StoreDamaged`
    where the files cannot be read at all.
    """
    unseal(folder)
    with explaining(folder):
        shard = qe.EdgeShard.load(str(folder))
        try:
            account = read_ledger(folder / LEDGER) or Account()
            found = compare(shard, account)
            mark(shard, found.unmarked)
            copy = Copy(shard, folder, _dimension(shard))
            await copy.fill(leaving_out=found.altered | found.returned)
            last = max([account.last, *(entry.write for entry in found.later)])
        finally:
            shard.close()
        return copy.take_over(last, durability), found


def _dimension(shard: qe.EdgeShard) -> int:
    """That of the keys, as the identity tells it."""
    found = shard.retrieve([IDENTITY_ID], with_payload=True, with_vector=False)
    identity = found[0].payload or {} if found else {}
    if not is_whole(identity):
        raise StoreDamaged("what made this memory cannot be read: restore a backup")
    return int(identity["dimension"])


async def rewritten(shard: Shard, gate: Gate) -> Shard:
    """The shard that took the place of this one, which others may read and write until then."""
    with shard.followed() as changes:
        copy = Copy(shard.raw, shard.folder, _dimension(shard.raw))
        await copy.fill()
        for _ in range(_CATCHING_UP):
            copy.renew(changes.taken())
            await copy.sync()
            if not changes:
                break
        async with gate.alone():
            copy.renew(changes.taken())
            shard.release()
            return copy.take_over(shard.last, shard.durability)
