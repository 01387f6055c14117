"""Writing a memory's files anew, with the points that are kept and nothing else.

The engine frees the room of deleted or overwritten points, but their bytes stay in its files and
its log. So a scrub copies every point, unchanged and with its keys, to a new shard. The new shard
takes the place of the old one, which goes on serving until then. A repair does the same, and leaves
out the damaged points.

One folder takes the place of another by two atomic renames. The new index lies beside the old one
until it is complete: `edge.next` while a reindex builds it, `edge.scrubbed` while the files are
written anew. After a crash between the renames no index is in place, and the next opening does the
second rename.
"""

import asyncio
import shutil
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge as qe

from memory_store._disk import sync_folder, sync_tree
from memory_store._gate import Gate
from memory_store.engines._edge.integrity import is_whole, marks_of, unseal
from memory_store.engines._edge.ledger import Account, Ledger, LedgerEntry, read_ledger
from memory_store.engines._edge.opening import (
    LedgerCheck,
    compare,
    create,
    mark,
    open_shard,
    pages,
)
from memory_store.engines._edge.points import explaining, to_edge
from memory_store.engines._edge.shard import LEDGER, Shard, vectors_of
from memory_store.engines._edge.sync import Durability
from memory_store.engines._engine import Point
from memory_store.engines._layout import IDENTITY_ID
from memory_store.errors import StoreDamaged
from memory_store.scheduler import in_slices

# How many points are copied before other tasks may run.
_AT_ONCE = 4
# A flush takes longer the more points it has, and nobody is served meanwhile.
_FLUSHED_AT_ONCE = 1000
# How often the copy tries to catch up with writers before they have to wait.
_CATCHING_UP = 5
_Item = TypeVar("_Item")


class Copy:
    """A new shard beside a folder, which will take the folder's place."""

    def __init__(self, source: qe.EdgeShard, folder: Path, dimension: int) -> None:
        self._source = source
        self.folder = folder
        self._building = scrubbed_of(folder)
        shutil.rmtree(self._building, ignore_errors=True)
        create(self._building, dimension, source.info().points_count)
        self._shard = qe.EdgeShard.load(str(self._building))
        self._account = Account()
        self._unflushed = 0

    async def fill(self, leaving_out: Collection[bytes] = ()) -> None:
        """Copy every point except these. Other tasks run meanwhile."""
        every = chain.from_iterable(pages(self._source, _AT_ONCE))
        kept = (point for point in every if point.id.bytes not in leaving_out)
        async for some in in_slices(_parts(kept)):
            self._add(some)

    async def renew(self, ids: Iterable[uuid.UUID]) -> None:
        """Copy these points again as they are now; delete those that are gone."""
        async for some in in_slices(_parts(ids)):
            self._renew(some)

    def renew_at_once(self, ids: Iterable[uuid.UUID]) -> None:
        """Like `renew`, but no other task runs meanwhile, as writers wait for it."""
        for some in _parts(ids):
            self._renew(some)

    def _renew(self, ids: Sequence[uuid.UUID]) -> None:
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
                    f"point {point.id} of the memory in {self.folder} is damaged: stop the "
                    "assistant and run `assistant repair`"
                )
            self._account.held[point.id.bytes] = LedgerEntry.held(point.id.bytes, marks)
            copied.append(to_edge(Point(str(point.id), *vectors_of(point), point.payload)))
        self._shard.update(qe.UpdateOperation.upsert_points(copied))
        self._unflushed += len(copied)
        if self._unflushed > _FLUSHED_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        self._shard.flush()
        self._unflushed = 0

    async def sync(self) -> None:
        """Put all copied points on the disk, so that little is left to do at the end."""
        self._flush()
        await asyncio.to_thread(sync_tree, self._building)

    def take_over(self, last: int, durability: Durability, *, erased: int = 0) -> Shard:
        """Put the copy in the folder's place, whose shard must be closed, and open it there."""
        self._account.last = last
        self._account.erased = erased
        self._shard.close()
        Ledger.create(self._building / LEDGER, self._account).close()
        sync_tree(self._building)
        swap(self.folder, self._building, gone_of(self.folder))
        shard = qe.EdgeShard.load(str(self.folder))
        ledger = Ledger(self.folder / LEDGER)
        return Shard(self.folder, shard, ledger, durability, last=last, erased=erased)


async def repaired(folder: Path, durability: Durability) -> tuple[Shard, LedgerCheck]:
    """Replace a folder by a shard of all its whole points. Return the shard and the check's result.

    Forgotten points that damage has brought back are left out too. Raises `StoreDamaged` if the
    files cannot be read at all.
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
        repaired_shard = copy.take_over(last, durability)
        sweep(folder)
        return repaired_shard, found


def _parts(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    left = iter(items)
    while some := list(islice(left, _AT_ONCE)):
        yield some


def _dimension(shard: qe.EdgeShard) -> int:
    """The dimension of the keys, as the identity tells it."""
    found = shard.retrieve([IDENTITY_ID], with_payload=True, with_vector=False)
    identity = found[0].payload or {} if found else {}
    if not is_whole(identity):
        raise StoreDamaged("the memory's identity record is unreadable: restore a backup")
    return int(identity["dimension"])


async def rewritten(shard: Shard, gate: Gate) -> Shard:
    """Replace a shard by a copy in new files and return that. Others may read and write the old one
    until it is replaced."""
    erased = shard.erased
    with shard.followed() as changes:
        copy = Copy(shard.raw, shard.folder, _dimension(shard.raw))
        await copy.fill()
        for _ in range(_CATCHING_UP):
            await copy.renew(changes.taken())
            await copy.sync()
            if not changes:
                break
        async with gate.alone():
            copy.renew_at_once(changes.taken())
            shard.release()
            # Texts that were forgotten since the start may be in the copy, so they still count.
            return copy.take_over(shard.last, shard.durability, erased=shard.erased - erased)


def replaced(shard: Shard, coming: Path) -> Shard:
    """Replace a shard, which nobody may use, by the closed, complete one in the folder `coming`,
    and open that. If this fails, the old shard is back in its place and can be opened again."""
    folder = shard.folder
    going = gone_of(folder)
    sweep(folder)
    shard.release()
    try:
        swap(folder, coming, going)
        return open_shard(folder, shard.durability)
    except BaseException:
        if going.exists():
            if folder.exists():
                folder.rename(coming)
            going.rename(folder)
        raise


def next_to(directory: Path) -> Path:
    """The place of the index that a reindex makes."""
    return _beside(directory, "next")


def old_of(directory: Path) -> Path:
    """The place where a reindex leaves the index that it replaced."""
    return _beside(directory, "old")


def scrubbed_of(directory: Path) -> Path:
    """The place where a scrub writes the files of the directory anew."""
    return _beside(directory, "scrubbed")


def gone_of(directory: Path) -> Path:
    """The place of the old files while the new ones are put in place."""
    return _beside(directory, "gone")


def swap(directory: Path, coming: Path, going: Path) -> None:
    """Put the complete index `coming` in the directory's place, and keep the old one at `going`."""
    shutil.rmtree(going, ignore_errors=True)
    directory.rename(going)
    coming.rename(directory)
    sync_folder(directory.parent)


def finish_swap(directory: Path) -> None:
    """Do the second rename if only the first was done; otherwise do nothing."""
    if directory.exists():
        return
    coming = scrubbed_of(directory)
    if not (gone_of(directory).exists() and coming.exists()):
        coming = next_to(directory)
    if coming.exists():
        coming.rename(directory)
        sync_folder(directory.parent)


def sweep(directory: Path) -> None:
    """Delete what a rewriting has left, interrupted or not. No other process may be rewriting."""
    for left in (scrubbed_of(directory), gone_of(directory)):
        shutil.rmtree(left, ignore_errors=True)


def _beside(directory: Path, name: str) -> Path:
    return directory.with_name(f"{directory.name}.{name}")
