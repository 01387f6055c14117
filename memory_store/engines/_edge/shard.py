"""An open shard of the engine. Each write is marked and gets a ledger entry; each payload that is
read whole is checked."""

import asyncio
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import qdrant_edge as qe

from memory_store._disk import sync_tree
from memory_store.embedding.encoder import Matrix
from memory_store.engines._edge.integrity import (
    MARKS,
    digest_of_vectors,
    is_whole,
    marked,
    marks_of,
    seal,
    unmarked,
)
from memory_store.engines._edge.ledger import EntryKind, Ledger, LedgerEntry
from memory_store.engines._edge.points import explaining, to_edge
from memory_store.engines._edge.sync import Commits, Durability
from memory_store.engines._engine import Payload, Point
from memory_store.engines._layout import KEYS, WORDS, to_matrix
from memory_store.errors import StoreDamaged, StoreUnavailable
from memory_store.scheduler import charged

LEDGER = "ledger"
_PAGE = 48


class ChangedPoints:
    """Points that were written or deleted since they were last taken."""

    def __init__(self) -> None:
        self._ids: set[uuid.UUID] = set()

    def __bool__(self) -> bool:
        return bool(self._ids)

    def add(self, ids: Iterable[uuid.UUID]) -> None:
        """Note that these points were changed."""
        self._ids |= set(ids)

    def taken(self) -> set[uuid.UUID]:
        """Return the ids noted so far, and forget them."""
        taken, self._ids = self._ids, set()
        return taken


class Vectors(NamedTuple):
    """The vectors by which a point is found: its keys, and the counts of its words."""

    keys: Matrix
    words: Mapping[int, float]


class Shard:
    """One shard directory that this process owns."""

    def __init__(
        self,
        folder: Path,
        shard: qe.EdgeShard,
        ledger: Ledger,
        durability: Durability,
        *,
        last: int,
        erased: int = 0,
    ) -> None:
        """`last` is the number of the last write. `erased` counts the deleted or overwritten texts
        that may still be on the disk."""
        self.folder = folder
        self.durability = durability
        self._shard = shard
        self._ledger = ledger
        self._last = last
        self.erased = erased
        self._commits = Commits(folder / "wal", ledger, durability)
        self._damage: str | None = None
        self._changes: ChangedPoints | None = None
        self.unflushed = 0
        """How many points were written since the last flush."""

    def upsert(
        self, points: Sequence[Point], mode: qe.UpdateMode, only_if: qe.Filter | None = None
    ) -> None:
        """Write points; they last once `durable` has returned."""
        if not points:
            return
        with self._working():
            written = {uuid.UUID(point.id): self._marked(point) for point in points}
            edge_points = [to_edge(point) for point in written.values()]
            upsert = qe.UpdateOperation.upsert_points(edge_points, only_if, mode)
            self._shard.update(upsert)
        self._account_for(written if mode is qe.UpdateMode.Upsert else self._applied(written))

    def _marked(self, point: Point) -> Point:
        payload = marked(
            point.payload, self._next_write(), digest_of_vectors(point.keys, point.words)
        )
        return Point(point.id, point.keys, point.words, payload)

    def _applied(self, written: Mapping[uuid.UUID, Point]) -> dict[uuid.UUID, Point]:
        """Those of the points that the engine's conditions let through."""
        with self._working():
            found = self._shard.retrieve(list(written), with_payload=[MARKS], with_vector=False)
        marks = {point.id: marks_of(point.payload or {}) for point in found}
        return {id: p for id, p in written.items() if marks.get(id) == marks_of(p.payload)}

    def set_payload(self, selected: qe.Filter, payload: Payload) -> None:
        """Replace these fields of the selected points; only one page of them is changed."""
        found = self.page(selected, None, with_payload=True)[0]
        for point in found:
            marks = marks_of(point.payload)
            assert marks is not None  # `page` has checked the payload
            changed = marked({**point.payload, **payload}, self._next_write(), marks.vectors)
            fields = {**payload, MARKS: changed[MARKS]}
            with self._working():
                self._shard.update(qe.UpdateOperation.set_payload([point.id], fields))
            self._account_for({point.id: Point(str(point.id), _NO_KEYS, {}, changed)})

    async def delete(self, selected: qe.Filter) -> None:
        """Delete the selected points; they are gone for good once `durable` has returned.

        The ledger notes them before, so that an interrupted deletion is not taken for a loss.
        """
        intended: set[uuid.UUID] = set()
        while new := self.ids(selected) - intended:
            # The entry has no write number, because earlier writes may not be in the ledger yet.
            await self._commits.intend([LedgerEntry(EntryKind.GOING, 0, id.bytes) for id in new])
            intended |= new
        if not intended:
            return
        with self._working():
            self._shard.update(qe.UpdateOperation.delete_points_by_filter(selected))
        write = self._next_write()
        self._commits.add([LedgerEntry(EntryKind.GONE, write, id.bytes) for id in intended])
        self.erased += len(intended)
        self._noted(intended)

    def note_erased(self, count: int) -> None:
        """Note that this many texts were written over and that no trace of them shall stay."""
        self.erased += count
        write = self._next_write()
        self._commits.add([LedgerEntry(EntryKind.ERASED, write, bytes(16))] * count)

    def begin_commit(self) -> None:
        """Begin to make all writes so far durable, without waiting for it."""
        self._commits.begin()

    async def durable(self) -> None:
        """Wait until all writes so far are durable. Raises `StoreUnavailable`."""
        with explaining(self.folder):
            await self._commits.durable()

    def query(self, requests: Sequence[qe.QueryRequest]) -> list[list[Any]]:
        """The points of each query, without their payloads."""
        with self._working():
            found: list[list[Any]] = self._shard.query_batch(qe.QueryBatchRequest(list(requests)))
        return found

    def count(self, selected: qe.Filter) -> int:
        """How many points are selected, exactly."""
        with self._working():
            return int(self._shard.count(qe.CountRequest(exact=True, filter=selected)))

    def page(
        self, selected: qe.Filter | None, offset: Any, *, limit: int = _PAGE, **wanted: Any
    ) -> tuple[list[Any], Any]:
        """Up to `limit` selected points, in the order of their ids, and where the next ones begin.

        If whole payloads are wanted, raises `StoreDamaged` if one is not as it was written.
        """
        with self._working():
            points, next_ = self._shard.scroll(
                qe.ScrollRequest(offset=offset, limit=limit, filter=selected, **wanted)
            )
            if wanted.get("with_payload") is True:
                for point in points:
                    self._check(point)
        return points, next_

    def pages(self, selected: qe.Filter | None, **wanted: Any) -> Iterator[list[Any]]:
        """All selected points, page by page, as `page` returns them."""
        offset: Any = None
        while True:
            points, offset = self.page(selected, offset, **wanted)
            yield points
            if offset is None:
                return

    def ids(self, selected: qe.Filter | None) -> set[uuid.UUID]:
        """The ids of the points selected."""
        return {point.id for page in self.pages(selected, with_payload=False) for point in page}

    def check(self) -> None:
        """Raise `StoreDamaged` if a round was found damaged, and whatever `check_place` raises."""
        if self._damage:
            raise StoreDamaged(self._damage)
        self.check_place()

    def check_place(self) -> None:
        """Raise `StoreUnavailable` if the folder is gone, as mapped files outlive their names."""
        if not self._ledger.is_there:
            raise StoreUnavailable(
                f"{self.folder} was deleted or moved while the assistant was using it: nothing "
                "more is written. Put it back, or restore a backup, and restart the assistant"
            )

    def flush(self) -> None:
        """Move the log's content into the segments, so that the log stays short.

        The log alone makes writes durable. A flush limits its size, and the time to start after a
        crash.
        """
        with self._working():
            self._shard.flush()
        self.unflushed = 0

    async def flush_in_peace(self) -> None:
        """Like `flush`, but others are served for most of it. A thread puts the files on the disk
        first, so that little is left for the engine's flush, which stops everybody."""
        self.unflushed = 0  # so that no writer begins a second flush meanwhile
        # A failure shows again in the engine's own flush.
        with suppress(OSError):
            await asyncio.to_thread(sync_tree, self.folder / "segments")
        self.flush()

    @property
    def raw(self) -> qe.EdgeShard:
        """The engine's shard, for reading points without checks."""
        return self._shard

    @property
    def last(self) -> int:
        """The number of the last write."""
        return self._last

    @contextmanager
    def followed(self) -> Iterator[ChangedPoints]:
        """Notes which points are changed while it is open."""
        self._changes = ChangedPoints()
        try:
            yield self._changes
        finally:
            self._changes = None

    async def close(self) -> None:
        """Put all on the disk, release the lock, and seal the folder."""
        try:
            with explaining(self.folder):
                await self.flush_in_peace()
                await self._commits.settle()
        finally:  # if the flush fails, the log still holds everything
            self.release()
        if self._damage is None:
            await asyncio.to_thread(seal, self.folder)

    def release(self) -> None:
        """Close the files and release the lock on them."""
        self._shard.close()
        self._ledger.close()

    def _check(self, point: Any) -> None:
        if not is_whole(point.payload or {}):
            self._damage = (
                f"a round of the memory in {self.folder} is not as it was written (point "
                f"{point.id}): the disk may be failing. Restore a backup, or keep all other "
                "rounds: stop the assistant and run `assistant repair`"
            )
            raise StoreDamaged(self._damage)

    def _account_for(self, written: Mapping[uuid.UUID, Point]) -> None:
        for id, point in written.items():
            marks = marks_of(point.payload)
            assert marks is not None
            self._commits.add([LedgerEntry.held(id.bytes, marks)])
        self._noted(written)

    def _noted(self, ids: Collection[uuid.UUID]) -> None:
        if self._changes is not None:
            self._changes.add(ids)
        self.unflushed += len(ids)

    def _next_write(self) -> int:
        self._last += 1
        return self._last

    @contextmanager
    def _working(self) -> Iterator[None]:
        with charged(), explaining(self.folder):
            yield


_NO_KEYS: Matrix = np.zeros((0, 0), dtype=np.float32)


def payload_of(point: Any) -> dict[str, Any]:
    """The payload of a point as read, without its marks."""
    return unmarked(point.payload or {})


def vectors_of(point: Any) -> Vectors:
    """The vectors of a point as read."""
    vectors: Any = point.vector or {}
    words = vectors.get(WORDS)
    counts = dict(zip(words.indices, words.values, strict=True)) if words else {}
    return Vectors(to_matrix(vectors.get(KEYS)), counts)
