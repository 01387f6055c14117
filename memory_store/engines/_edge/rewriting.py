"""A memory's files written anew, with what is kept and nothing else.

The engine frees the room of what is deleted or written over, but leaves its bytes; its log keeps
them, too. So a scrub copies every point to a new shard, as it is and with its keys, and the new one
takes the place of the old one, which goes on serving until then.
The same leaves out what is damaged, when a memory is repaired.

One folder takes the place of another by two renames, each of them whole. The new index lies beside
the old one until it is complete: `edge.next` while a reindex builds it, `edge.scrubbed` while the
files are written anew. A crash between the renames leaves the new one without the old one in its
place; the next opening finishes it.
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

# Points that are copied before others may have their turn.
_AT_ONCE = 4
# A flush takes longer the more there is to flush, and nobody else is served meanwhile.
_FLUSHED_AT_ONCE = 1000
# Rounds of catching up with writers before they have to wait.
_CATCHING_UP = 5
_Item = TypeVar("_Item")


class Copy:
    """A new shard beside a folder, on its way to take its place."""

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
        """Copy every point but these. Others have their turns meanwhile."""
        every = chain.from_iterable(pages(self._source, _AT_ONCE))
        kept = (point for point in every if point.id.bytes not in leaving_out)
        async for some in in_slices(_parts(kept)):
            self._add(some)

    async def renew(self, ids: Iterable[uuid.UUID]) -> None:
        """Copy these points again, as they are now: changed, or gone."""
        async for some in in_slices(_parts(ids)):
            self._renew(some)

    def renew_at_once(self, ids: Iterable[uuid.UUID]) -> None:
        """`renew` while writers wait for it."""
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
        """Put on the disk what there is, so that little is left to do at the end."""
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
    """The shard that took the place of this one, which others may read and write until then."""
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
            # A text that was forgotten meanwhile may have been copied before.
            return copy.take_over(shard.last, shard.durability, erased=shard.erased - erased)


def replaced(shard: Shard, coming: Path) -> Shard:
    """The closed, complete shard in the folder `coming`, opened in this one's place; nobody reads
    or writes this one. Where that fails, this one is back in its place, and can be opened again."""
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
    """The place of the old files while the new ones take theirs."""
    return _beside(directory, "gone")


def swap(directory: Path, coming: Path, going: Path) -> None:
    """Put the complete index `coming` in the directory's place, and keep the old one at `going`."""
    shutil.rmtree(going, ignore_errors=True)
    directory.rename(going)
    coming.rename(directory)
    sync_folder(directory.parent)


def finish_swap(directory: Path) -> None:
    """The second rename, where only the first was made; does nothing otherwise."""
    if directory.exists():
        return
    coming = scrubbed_of(directory)
    if not (gone_of(directory).exists() and coming.exists()):
        coming = next_to(directory)
    if coming.exists():
        coming.rename(directory)
        sync_folder(directory.parent)


def sweep(directory: Path) -> None:
    """Delete what an interrupted writing anew has left, once nobody else can be at it."""
    for left in (scrubbed_of(directory), gone_of(directory)):
        shutil.rmtree(left, ignore_errors=True)


def _beside(directory: Path, name: str) -> Path:
    return directory.with_name(f"{directory.name}.{name}")
