"""Qdrant Edge: the engine inside this process. With `edge_points` and `edge_operator` the only
importer of `qdrant_edge`.

One shard directory serves all users; a tenant index keeps them apart. HNSW is off: with a user
filter an exact scan is faster and never wrong. Calls run on the event loop: each holds the GIL
for its whole run whatever thread it is in, and lasts a few milliseconds at most.
"""

import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import qdrant_edge as qe

from memory_store.engines.disk_space import FOR_OPENING, FOR_WRITING, require, require_place
from memory_store.engines.edge_errors import explaining
from memory_store.engines.edge_points import (
    config,
    indexes,
    one_of,
    to_edge,
    to_filter,
    to_holding,
    to_number,
    to_request,
)
from memory_store.engines.edge_swap import finish_swap
from memory_store.engines.engine import (
    Hit,
    Matrix,
    Payload,
    Point,
    Scope,
    Similarities,
    Watcher,
)
from memory_store.engines.layout import IDENTITY_ID, KEYS, USER, WORDS, divided, to_matrix
from memory_store.engines.watching import Watchers, Written, of_points, of_scope
from memory_store.errors import StoreUnavailable
from memory_store.private_folder import make_private
from memory_store.turns import charged, pause
from memory_store.types import Held

# Small batches keep a single GIL-holding call short.
_UPSERT_BATCH = 64
_SCROLL_PAGE = 128
# Points written between two flushes; a flush takes some 50 ms.
_FLUSH_AFTER = 2000


class EdgeEngine:
    """One embedded shard under `directory`, owned by one process at a time."""

    name = "edge"

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "edge"
        self._open_shard: qe.EdgeShard | None = None
        self._unflushed = 0
        self._watchers = Watchers()

    async def open(self, dimension: int) -> Payload | None:
        """Open or create the shard; see `Engine.open`."""
        with self._explaining():
            require(FOR_OPENING, self._directory)
            finish_swap(self._directory)
            if not self._directory.exists():
                require_place(self._directory)
                self._create(dimension)
            self._open_shard = qe.EdgeShard.load(str(self._directory))
        return self._identity()

    def _identity(self) -> Payload | None:
        found = self._shard.retrieve([IDENTITY_ID], with_payload=True, with_vector=False)
        return dict(found[0].payload or {}) if found else None

    def _create(self, dimension: int) -> None:
        # Built beside its place and renamed, so that a crash leaves no half-made shard.
        building = self._directory.with_name(self._directory.name + ".new")
        shutil.rmtree(building, ignore_errors=True)
        make_private(building.parent)
        make_private(building)
        shard = qe.EdgeShard.create(str(building), config(dimension))
        for field, schema in indexes().items():
            shard.update(qe.UpdateOperation.create_field_index(field, schema))
        shard.close()
        building.rename(self._directory)

    def watch(self, watcher: Watcher) -> bool:
        """The directory is locked: nobody else writes."""
        self._watchers.add(watcher)
        return True

    async def write_identity(self, identity: Payload) -> None:
        """Store the identity as a point without a user, which no scope can match."""
        point = qe.Point(IDENTITY_ID, {}, dict(identity))
        self._update(qe.UpdateOperation.upsert_points([point]))

    async def upsert(self, points: Sequence[Point], over: Held | None = None) -> None:
        """Write points; durable on return (write-ahead log)."""
        require(FOR_WRITING, self._directory)
        if over is None:
            self._upsert(points, qe.UpdateMode.Upsert)
        else:
            replaced, new = divided(points, over)
            self._upsert(replaced, qe.UpdateMode.UpdateOnly, to_holding(over))
            self._upsert(new, qe.UpdateMode.InsertOnly)
        self._unflushed += len(points)
        if self._unflushed >= _FLUSH_AFTER:
            self._flush()

    def _upsert(
        self, points: Sequence[Point], mode: qe.UpdateMode, only_if: qe.Filter | None = None
    ) -> None:
        for start in range(0, len(points), _UPSERT_BATCH):
            batch = points[start : start + _UPSERT_BATCH]
            edge_points = [to_edge(point) for point in batch]
            upsert = qe.UpdateOperation.upsert_points(edge_points, only_if, mode)
            self._update(upsert, of_points(batch))

    async def nearest(
        self, vector: npt.NDArray[np.float32], scope: Scope, limit: int
    ) -> Similarities:
        """Exact MaxSim search over the keys of each point in scope."""
        query = qe.Query.Nearest([vector.tolist()], using=KEYS)
        return self._query([to_request(query, scope, limit)])[0]

    async def postings(self, terms: Sequence[int], scope: Scope, limit: int) -> list[Similarities]:
        """One sparse query a term; the inner product with a unit query is the term's count."""
        if not terms:
            return []
        queries = [
            qe.Query.Nearest(qe.SparseVector(indices=[term], values=[1.0]), using=WORDS)
            for term in terms
        ]
        return self._query([to_request(query, scope, limit) for query in queries])

    async def scroll(self, scope: Scope, fields: Sequence[str] | None = None) -> list[Hit]:
        """Every point in scope, page by page."""
        wanted = True if fields is None else list(fields)
        points = await self._scrolled(to_filter(scope), with_payload=wanted)
        return [Hit(str(point.id), point.payload or {}) for point in points]

    async def keys(self, scope: Scope) -> dict[str, Matrix]:
        """The keys as the engine holds them: 16-bit floats, widened."""
        points = await self._scrolled(to_filter(scope), with_payload=False, with_vector=[KEYS])
        return {str(point.id): to_matrix(point.vector.get(KEYS)) for point in points}

    async def _scrolled(self, filter: qe.Filter, **wanted: Any) -> list[Any]:
        """The points that pass the filter, page by page, with what is wanted of them.

        Others have their turn between two pages: ten thousand texts take seconds to read.
        """
        points: list[Any] = []
        offset: Any = None
        while True:
            request = qe.ScrollRequest(offset=offset, limit=_SCROLL_PAGE, filter=filter, **wanted)
            with charged(), self._explaining():
                page, offset = self._shard.scroll(request)
            points += page
            if offset is None:
                return points
            await pause()

    async def set_payload(
        self, id: str, scope: Scope, payload: Payload, turn_ids: Sequence[str] | None = None
    ) -> None:
        """Set by filter, so that an id of another user is never touched."""
        require(FOR_OPENING, self._directory)
        only = replace(scope, ids=(id,))
        selected = to_filter(only, turn_ids)
        set_payload = qe.UpdateOperation.set_payload_by_filter(selected, dict(payload))
        self._update(set_payload, of_scope(only))

    async def in_state(self, states: Sequence[str]) -> list[Hit]:
        """See `Engine.in_state`."""
        only = qe.Filter(must=[one_of("enrichment", states)])
        points = await self._scrolled(only, with_payload=True)
        return [Hit(str(point.id), point.payload or {}) for point in points]

    async def users(self) -> set[str]:
        """See `Engine.users`."""
        points = await self._scrolled(qe.Filter(), with_payload=[USER])
        # The identity is nobody's.
        return {point.payload[USER] for point in points if point.payload and USER in point.payload}

    async def count(self, scope: Scope) -> int:
        """Exact count of the points in scope."""
        with charged(), self._explaining():
            return int(self._shard.count(qe.CountRequest(exact=True, filter=to_filter(scope))))

    async def delete(self, scope: Scope) -> None:
        """Delete by filter, so that an id of another user is never touched."""
        require(FOR_OPENING, self._directory)
        delete = qe.UpdateOperation.delete_points_by_filter(to_filter(scope))
        self._update(delete, of_scope(scope))

    async def check(self) -> None:
        """See `Engine.check`."""
        await self.count(Scope("check"))
        require(FOR_WRITING, self._directory)

    async def close(self) -> None:
        """Flush and release the directory lock."""
        if self._open_shard is not None:
            try:
                self._flush()
            finally:  # unflushed, the log still holds everything
                self._open_shard.close()
                self._open_shard = None

    def _flush(self) -> None:
        """Move what the log holds into the segments, so that the log stays short.

        Not for durability, which the log gives: for its size, and for a quick start after a crash.
        """
        with self._explaining():
            self._shard.flush()
        self._unflushed = 0

    @property
    def _shard(self) -> qe.EdgeShard:
        if self._open_shard is None:
            raise StoreUnavailable("the store is closed")
        return self._open_shard

    def _update(self, operation: qe.UpdateOperation, written: Written | None = None) -> None:
        """Change points: these, or such as are no user's."""
        with charged(), self._watchers.told_of(written or {}), self._explaining():
            self._shard.update(operation)

    def _query(self, requests: list[qe.QueryRequest]) -> list[Similarities]:
        with charged(), self._explaining():
            found = self._shard.query_batch(qe.QueryBatchRequest(requests))
            return [{to_number(point): point.score for point in points} for points in found]

    def _explaining(self) -> AbstractContextManager[None]:
        return explaining(self._directory)
