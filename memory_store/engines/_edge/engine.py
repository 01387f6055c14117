"""Qdrant Edge: the engine inside this process. This folder is the only importer of `qdrant_edge`.

One shard directory serves all users; a tenant index keeps them apart. HNSW is off: with a user
filter an exact scan is faster and never wrong. Calls run on the event loop, because each holds the
GIL for its whole run in whatever thread it is, and lasts a few milliseconds at most. Work that
waits for the disk runs in other threads.
"""

import asyncio
import shutil
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import qdrant_edge as qe

from memory_store._disk import FOR_OPENING, FOR_WRITING, files_with, require, require_place
from memory_store._gate import Gate
from memory_store._types import Held
from memory_store.embedding.encoder import Matrix
from memory_store.engines._edge.opening import create, open_shard, verify
from memory_store.engines._edge.points import (
    explaining,
    one_of,
    to_filter,
    to_holding,
    to_number,
    to_request,
)
from memory_store.engines._edge.rewriting import finish_swap, old_of, replaced, rewritten, sweep
from memory_store.engines._edge.shard import Shard, payload_of, vectors_of
from memory_store.engines._edge.sync import Durability
from memory_store.engines._engine import (
    Claim,
    Payload,
    Point,
    Similarities,
    StoredPoint,
    UserScope,
    WriteWatcher,
)
from memory_store.engines._layout import (
    IDENTITY_ID,
    KEYS,
    PERSON,
    USER,
    WORDS,
    WriteWatchers,
    WrittenIds,
    divided,
    of_points,
    of_scope,
)
from memory_store.errors import StoreUnavailable
from memory_store.scheduler import pause

Count = Callable[[UserScope], int]
"""A function that counts the points in a scope, exactly and at once."""
# An entry of the tally takes some 150 bytes.
_MOST_USERS = 10_000


class Tally:
    """Keeps the number of points of the users who were asked about last."""

    def __init__(self, count: Count, most_users: int = _MOST_USERS) -> None:
        self._count = count
        self._most_users = most_users
        self._of: OrderedDict[str, int] = OrderedDict()

    def of(self, user_id: str) -> int:
        """How many points the user has."""
        if user_id not in self._of:
            self._of[user_id] = self._count(UserScope(user_id))
        self._of.move_to_end(user_id)
        while len(self._of) > self._most_users:
            self._of.popitem(last=False)
        return self._of[user_id]

    @contextmanager
    def following(self, points: Sequence[Point]) -> Iterator[None]:
        """Keep the numbers right around a write of these points, which must not wait for anything.
        After a failed write the users are counted anew."""
        known = {
            UserScope(user_id, ids=tuple(ids or ())): self._of.pop(user_id)
            for user_id, ids in of_points(points).items()
            if user_id in self._of
        }
        others = {scope: total - self._count(scope) for scope, total in known.items()}
        yield
        for scope, total in others.items():
            self._of[scope.user_id] = total + self._count(scope)

    def clear(self) -> None:
        """Forget all numbers, so that every user is counted anew."""
        self._of.clear()


# Nobody is served during a call of the engine, so a small batch keeps it short.
_UPSERT_BATCH = 4
# A scrub is due when one in this many texts was deleted or written over.
_DUE = 100
# How many points are written between two flushes; a flush takes some 50 ms.
_FLUSH_AFTER = 2000


class EdgeEngine:
    """See `Engine`: one embedded shard under `directory`, owned by one process at a time."""

    name = "edge"

    def __init__(self, directory: Path, *, durability: Durability = Durability.SYNC) -> None:
        """`durability` is what a write waits for before it is acknowledged."""
        self._directory = directory / "edge"
        self._durability = durability
        self._open_shard: Shard | None = None
        self._gate = Gate()
        self._scrubbing = asyncio.Lock()
        self._watchers = WriteWatchers()
        self._tally = Tally(lambda scope: self._shard.count(to_filter(scope)))

    async def open(self, dimension: int) -> Payload | None:
        """Open or create the shard; see `Engine.open`.

        Raises `StoreDamaged` if a point that was acknowledged is missing or altered.
        """
        with self._explaining():
            require(FOR_OPENING, self._directory)
            finish_swap(self._directory)
            if not self._directory.exists():
                require_place(self._directory)
                create(self._directory, dimension)
            self._open_shard = open_shard(self._directory, self._durability)
            sweep(self._directory)
        self._tally.clear()
        return await self.identity()

    async def identity(self) -> Payload | None:
        """The identity as it is now."""
        only = qe.Filter(must=[qe.HasIdCondition({IDENTITY_ID})])
        found, _ = self._shard.page(only, None, with_payload=True)
        return payload_of(found[0]) if found else None

    def watch(self, watcher: WriteWatcher) -> bool:
        """See `Engine.watch`. The directory is locked, so that nobody else writes."""
        self._watchers.add(watcher)
        return True

    def unwatch(self, watcher: WriteWatcher) -> None:
        """See `Engine.unwatch`."""
        self._watchers.remove(watcher)

    async def write_identity(self, identity: Payload) -> None:
        """Store the identity as a point without a user, which no scope can match."""
        point = Point(IDENTITY_ID, np.zeros((0, 0), dtype=np.float32), {}, dict(identity))
        async with self._writing({}) as shard:
            shard.upsert([point], qe.UpdateMode.Upsert)

    async def upsert(
        self, points: Sequence[Point], over: Held | None = None, *, erasing: bool = False
    ) -> None:
        """Write points; durable on return (write-ahead log)."""
        require(FOR_WRITING, self._directory)
        async with self._writing(of_points(points)) as shard:
            if erasing:
                shard.note_erased(len(points))
            if over is None:
                await self._upsert(shard, points, qe.UpdateMode.Upsert)
            else:
                replaced, new = divided(points, over)
                await self._upsert(shard, replaced, qe.UpdateMode.UpdateOnly, to_holding(over))
                await self._upsert(shard, new, qe.UpdateMode.InsertOnly)

    async def set_payload(
        self, scope: UserScope, payload: Payload, turn_ids: Sequence[str] | None = None
    ) -> None:
        """See `Engine.set_payload`. It goes by a filter, so no id of another user is touched."""
        require(FOR_OPENING, self._directory)
        async with self._writing(of_scope(scope)) as shard:
            shard.set_payload(to_filter(scope, turn_ids), payload)

    async def delete(self, scope: UserScope) -> None:
        """See `Engine.delete`. It goes by a filter, so no id of another user is touched."""
        require(FOR_OPENING, self._directory)
        async with self._writing(of_scope(scope)) as shard:
            await self._delete(shard, to_filter(scope))

    async def _upsert(
        self,
        shard: Shard,
        points: Sequence[Point],
        mode: qe.UpdateMode,
        only_if: qe.Filter | None = None,
    ) -> None:
        for start in range(0, len(points), _UPSERT_BATCH):
            if start:
                await pause()
            batch = points[start : start + _UPSERT_BATCH]
            with self._tally.following(batch):
                shard.upsert(batch, mode, only_if)

    async def _delete(self, shard: Shard, selected: qe.Filter) -> None:
        try:
            await shard.delete(selected)
        finally:
            self._tally.clear()

    @asynccontextmanager
    async def _writing(self, written: WrittenIds) -> AsyncIterator[Shard]:
        """Let the caller change the points `written`, empty for points of no user. On leaving they
        are durable."""
        async with self._gate.beside_others():
            shard = self._shard
            shard.check_place()
            try:
                with self._watchers.told_of(written), self._explaining():
                    yield shard
            except BaseException:
                # Points already written must become durable too, although nobody waits for them.
                shard.begin_commit()
                raise
            await shard.durable()
            if shard.unflushed >= _FLUSH_AFTER:
                await shard.flush_in_peace()

    async def nearest(
        self, vector: npt.NDArray[np.float32], scope: UserScope, limit: int
    ) -> Similarities:
        """Exact MaxSim search over the keys of each point in scope."""
        query = qe.Query.Nearest([vector.tolist()], using=KEYS)
        return self._query([to_request(query, scope, limit)])[0]

    async def postings(
        self, terms: Sequence[int], scope: UserScope, limit: int
    ) -> list[Similarities]:
        """One sparse query per term; its inner product with a unit query is the term's count."""
        if not terms:
            return []
        queries = [
            qe.Query.Nearest(qe.SparseVector(indices=[term], values=[1.0]), using=WORDS)
            for term in terms
        ]
        return self._query([to_request(query, scope, limit) for query in queries])

    async def scroll(
        self, scope: UserScope, fields: Sequence[str] | None = None
    ) -> list[StoredPoint]:
        """Every point in scope, page by page."""
        wanted = True if fields is None else list(fields)
        return await self._hits(to_filter(scope), wanted)

    async def _hits(self, filter: qe.Filter, wanted: bool | list[str]) -> list[StoredPoint]:
        pages = self._pages(filter, with_payload=wanted)
        return [
            StoredPoint(str(point.id), payload_of(point)) async for page in pages for point in page
        ]

    async def keys(self, scope: UserScope) -> dict[str, Matrix]:
        """The keys as the engine holds them: 16-bit floats, widened to 32 bits."""
        return {
            str(point.id): vectors_of(point).keys
            async for page in self._pages(to_filter(scope), with_payload=False, with_vector=[KEYS])
            for point in page
        }

    async def _pages(self, filter: qe.Filter, **wanted: Any) -> AsyncIterator[list[Any]]:
        """The points that pass the filter, page by page, with the parts `wanted`.

        Other tasks run between two pages, as ten thousand texts take seconds to read.
        """
        offset: Any = None
        while True:
            page, offset = self._shard.page(filter, offset, **wanted)
            yield page
            if offset is None:
                return
            await pause()

    async def claim(self, scope: UserScope, held: Held, claim: Claim, now: datetime) -> set[str]:
        """All of them, as this process is the only one that can work on them."""
        return set(held)

    async def in_state(
        self, states: Sequence[str], lapsed: datetime | None = None
    ) -> list[StoredPoint]:
        """See `Engine.in_state`; nothing is ever claimed here."""
        if lapsed is not None:
            return []
        return await self._hits(qe.Filter(must=[one_of("enrichment", states)]), wanted=True)

    async def users(self) -> set[str]:
        pages = self._pages(qe.Filter(), with_payload=[USER])
        points = [point async for page in pages for point in page]
        # The point of the identity has no user.
        return {point.payload[USER] for point in points if point.payload and USER in point.payload}

    async def owners(self, person: str) -> set[str]:
        pages = self._pages(qe.Filter(must=[one_of(PERSON, [person])]), with_payload=[USER])
        return {point.payload[USER] async for page in pages for point in page}

    async def count(self, scope: UserScope) -> int:
        """Exact count of the points in scope; the tally keeps that of all points of a user."""
        if scope == UserScope(scope.user_id):
            return self._tally.of(scope.user_id)
        return self._shard.count(to_filter(scope))

    async def scrub(self, *, if_due: bool = False) -> bool:
        """See `Engine.scrub`: the files are written anew. Reading and writing go on meanwhile, but
        stop at the end for about a quarter of a second per ten thousand rounds."""
        async with self._scrubbing:
            if if_due and self._shard.erased * _DUE < self._shard.count(qe.Filter()):
                return False
            require(FOR_WRITING, self._directory)
            with self._explaining():
                self._open_shard = await rewritten(self._shard, self._gate)
            await asyncio.to_thread(sweep, self._directory)
            # The old index that a reindex left still holds texts that were forgotten since.
            await asyncio.to_thread(shutil.rmtree, old_of(self._directory), ignore_errors=True)
            return True

    async def traces(self, words: Sequence[str]) -> tuple[int, dict[str, int]]:
        """See `Engine.traces`; folders beside the index, such as `edge.old`, count too."""
        beside = [*self._directory.parent.glob(f"{self._directory.name}*")]
        async with self._scrubbing:
            return await asyncio.to_thread(files_with, beside, words)

    async def go_on_with(self, coming: Path) -> None:
        """Replace this shard by the closed, complete one in the sibling folder `coming`. Nothing is
        read or written meanwhile, for a quarter of a second per ten thousand rounds. It waits for
        nothing after the change, so that the caller can announce it before any other task runs."""
        async with self._scrubbing, self._gate.alone():
            await self._shard.flush_in_peace()
            await self._shard.durable()
            with self._explaining():
                try:
                    self._open_shard = replaced(self._shard, coming)
                except BaseException:
                    self._open_shard = open_shard(self._directory, self._durability)
                    raise
            self._tally.clear()

    async def drop_replaced(self) -> None:
        """Delete the files of the shard that was replaced."""
        async with self._scrubbing:
            await asyncio.to_thread(sweep, self._directory)

    async def verify(self) -> None:
        async with self._gate.alone():
            await self._shard.durable()
            with self._explaining():
                verify(self._shard)

    async def promise(self) -> str:
        if self._durability is Durability.SYNC:
            return "a round is acknowledged when it is on the disk"
        return "a power cut may lose the last seconds (durability is os)"

    async def check(self) -> None:
        self._shard.check()
        await self.count(UserScope("check"))
        require(FOR_WRITING, self._directory)

    async def close(self) -> None:
        """Wait for a scrub under way, then flush, seal, and release the directory lock."""
        async with self._scrubbing, self._gate.alone():
            if self._open_shard is not None:
                shard, self._open_shard = self._open_shard, None
                await shard.close()

    @property
    def directory(self) -> Path:
        """The folder of the shard."""
        return self._directory

    @property
    def shard(self) -> Shard:
        """The open shard; another one after a scrub."""
        return self._shard

    @property
    def _shard(self) -> Shard:
        if self._open_shard is None:
            raise StoreUnavailable("the store is closed")
        return self._open_shard

    def _query(self, requests: Sequence[qe.QueryRequest]) -> list[Similarities]:
        return [
            {to_number(point): point.score for point in points}
            for points in self._shard.query(requests)
        ]

    def _explaining(self) -> AbstractContextManager[None]:
        return explaining(self._directory)
