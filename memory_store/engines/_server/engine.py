"""A Qdrant server or cluster over gRPC. This folder is the only importer of `qdrant_client`.

One collection serves all users; a tenant index keeps them apart. There are no HNSW graphs: a search
is for one user, and scans that user's keys exactly.

Every call may be repeated without harm (points are written by id and deleted by filter), so each is
repeated while the server is away or busy. A write returns when every live replica has applied it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Unpack

import numpy as np
import numpy.typing as npt
from qdrant_client import AsyncQdrantClient, models

from memory_store._identity import refuse_unready
from memory_store._types import Held
from memory_store.embedding.encoder import Matrix
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
    CLAIMED_BY,
    CLAIMED_UNTIL,
    IDENTITY_ID,
    KEYS,
    PERSON,
    USER,
    WORDS,
    WriteWatchers,
    divided,
    of_points,
    of_scope,
    to_matrix,
)
from memory_store.engines._server.collection import Collection, CollectionOptions, OnServer
from memory_store.engines._server.connection import is_gone
from memory_store.engines._server.points import (
    GRAPHS,
    INDEXES,
    UNCLAIMED,
    claimed_by,
    free_for,
    is_ours,
    keys_config,
    lapsed_at,
    one_of,
    serving_alias,
    to_batch,
    to_filter,
    to_holding,
    to_identity_point,
    to_replacing,
    to_request,
    to_server,
    to_similarities,
    to_waiting,
    vectors_of,
    versions_of,
    words_config,
)
from memory_store.errors import StoreMismatch

_UPSERT_BATCH = 64


class ServerEngine(OnServer):
    """See `Engine`: one collection of a Qdrant server, for any number of processes at once."""

    name = "server"

    def __init__(self, url: str, **options: Unpack[CollectionOptions]) -> None:
        super().__init__(url, **options)
        self._call = self._connection.call
        self._watchers = WriteWatchers()

    async def open(self, dimension: int) -> Payload | None:
        """Connect; create the collection and its indexes where missing. See `Engine.open`."""
        async with self._opening():
            return await self._prepare(dimension)

    async def _prepare(self, dimension: int) -> Payload | None:
        self._collection = Collection(self._connection, await self._serving())
        if not await self._collection.exists():
            await self._collection.create(
                vectors_config={KEYS: keys_config(dimension)},
                sparse_vectors_config={WORDS: words_config()},
                hnsw_config=GRAPHS,
                **self._spread,
            )
        identity = await self.identity()
        found = await self._collection.info()
        if identity is None and not is_ours(found.config.params, dimension):
            raise StoreMismatch(
                f"the collection {self._collection.name!r} of Qdrant at {self._connection} is not "
                f"a memory of {dimension} dimensions: choose another qdrant.collection"
            )
        for field, schema in INDEXES.items():
            if field not in found.payload_schema:
                await self._collection.index(field, schema)
        return identity

    async def _serving(self) -> str:
        """The name of the collection that serves; after a reindex it is not the first one.

        It is looked up only once, as a running assistant must not change to another embedder's
        index.
        """
        aliases = (await self._call(lambda client: client.get_aliases())).aliases
        wanted = serving_alias(self._named)
        found = [alias.collection_name for alias in aliases if alias.alias_name == wanted]
        return found[0] if found else self._named

    async def identity(self) -> Payload | None:
        """The identity as it is now."""
        found = await self._collection.read([IDENTITY_ID])
        return found[0].payload or {} if found else None

    def watch(self, watcher: WriteWatcher) -> bool:
        """See `Engine.watch`. Others may write too; searches tell the versions of points."""
        self._watchers.add(watcher)
        return False

    def unwatch(self, watcher: WriteWatcher) -> None:
        """See `Engine.unwatch`."""
        self._watchers.remove(watcher)

    async def write_identity(self, identity: Payload) -> None:
        """Store the identity unless another process was faster with a different one."""
        await self._collection.upsert([to_identity_point(identity)], only_if=UNCLAIMED)
        written = await self.identity()
        if written != identity:
            raise StoreMismatch(
                f"another process just created the memory at {self._connection} with {written}, "
                f"this one is set to {dict(identity)}"
            )

    async def upsert(
        self, points: Sequence[Point], over: Held | None = None, *, erasing: bool = False
    ) -> None:
        """See `Engine.upsert`; every live replica has applied the write on return."""
        with self._watchers.told_of(of_points(points)):
            if over is None:
                await self._upsert_all(points)
            else:
                # Points to replace come first, so that no turn is there before an earlier one.
                replaced, new = divided(points, over)
                for point in replaced:
                    await self._replace(point, over)
                await self._upsert_all(new, only_if=to_holding({}))
        await self._confirm()

    async def _upsert_all(
        self, points: Sequence[Point], only_if: models.Filter | None = None
    ) -> None:
        for start in range(0, len(points), _UPSERT_BATCH):
            batch = [to_server(point) for point in points[start : start + _UPSERT_BATCH]]
            await self._collection.upsert(batch, only_if)

    async def _replace(self, point: Point, over: Held) -> None:
        """Write over a point if it holds the turns in `over`. An upsert would make a deleted point
        again, because its condition only checks points that exist."""
        operations = to_replacing(point, over[point.id])

        async def replace_it(client: AsyncQdrantClient) -> None:
            try:
                await self._collection.update(client, operations)
            except Exception as error:
                if not is_gone(error):
                    raise

        await self._call(replace_it)

    async def _confirm(self) -> None:
        """Raise `StoreUnready` instead of acknowledging a write that a reindex may have missed.

        A reindex first closes the memory and then reads it for the last time. So if the memory is
        still open here, the write was applied before that last reading.
        """
        refuse_unready(await self.identity() or {})

    async def set_payload(
        self, scope: UserScope, payload: Payload, turn_ids: Sequence[str] | None = None
    ) -> None:
        """See `Engine.set_payload`. It goes by a filter, so no id of another user is touched."""
        selected = to_filter(scope, turn_ids)
        with self._watchers.told_of(of_scope(scope)):
            await self._collection.set_payload(dict(payload), selected)
        await self._confirm()

    async def nearest(
        self, vector: npt.NDArray[np.float32], scope: UserScope, limit: int
    ) -> Similarities:
        """MaxSim search over the keys of each point in scope."""
        query = models.NearestQuery(nearest=[vector.tolist()])
        return (await self._query([to_request(query, KEYS, scope, limit)], scope))[0]

    async def postings(
        self, terms: Sequence[int], scope: UserScope, limit: int
    ) -> list[Similarities]:
        """One sparse query per term, in one request; each inner product is the term's count."""
        if not terms:
            return []
        queries = [
            models.NearestQuery(nearest=models.SparseVector(indices=[term], values=[1.0]))
            for term in terms
        ]
        return await self._query([to_request(q, WORDS, scope, limit) for q in queries], scope)

    async def _query(
        self, requests: list[models.QueryRequest], scope: UserScope
    ) -> list[Similarities]:
        batch = to_batch(self._collection.name, requests)
        # The client's own method makes an object of every hit, which takes longer than the search.
        reply = await self._call(
            lambda client: client.grpc_points.QueryBatch(batch, timeout=self._timeout)
        )
        found = [to_similarities(result) for result in reply.result]
        versions: dict[int, int] = {}
        for ids, result in zip(found, reply.result, strict=True):
            versions.update(zip(ids, versions_of(result), strict=True))
        self._watchers.found(scope.user_id, versions)
        return found

    async def scroll(
        self, scope: UserScope, fields: Sequence[str] | None = None
    ) -> list[StoredPoint]:
        """Every point in scope, page by page."""
        wanted = True if fields is None else list(fields)
        points = await self._collection.scrolled(to_filter(scope), with_payload=wanted)
        return [StoredPoint(str(point.id), point.payload or {}) for point in points]

    async def claim(self, scope: UserScope, held: Held, claim: Claim, now: datetime) -> set[str]:
        """See `Engine.claim`: write on a condition, then read which points the claim has."""
        waiting = to_waiting(scope, held)
        payload = {CLAIMED_BY: claim.by, CLAIMED_UNTIL: claim.until.isoformat()}
        free = models.Filter(must=[waiting, free_for(claim, now)])
        await self._collection.set_payload(payload, free)
        ours = models.Filter(must=[waiting, claimed_by(claim.by)])
        return await self._collection.ids_agreed(ours, limit=len(held))

    async def in_state(
        self, states: Sequence[str], lapsed: datetime | None = None
    ) -> list[StoredPoint]:
        only = models.Filter(must=[one_of("enrichment", states)])
        if lapsed is not None:
            only = models.Filter(must=[only, lapsed_at(lapsed)])
        points = await self._collection.scrolled(only, with_payload=True)
        return [StoredPoint(str(point.id), point.payload or {}) for point in points]

    async def users(self) -> set[str]:
        points = await self._collection.scrolled(models.Filter(), with_payload=[USER])
        # The point of the identity has no user.
        return {point.payload[USER] for point in points if point.payload and USER in point.payload}

    async def owners(self, person: str) -> set[str]:
        of_person = models.Filter(must=[one_of(PERSON, [person])])
        points = await self._collection.scrolled(of_person, with_payload=[USER])
        return {point.payload[USER] for point in points if point.payload}

    async def keys(self, scope: UserScope) -> dict[str, Matrix]:
        """The keys as the server holds them: 16-bit floats, widened to 32 bits."""
        points = await self._collection.scrolled(
            to_filter(scope), with_payload=False, with_vectors=[KEYS]
        )
        return {str(point.id): to_matrix(vectors_of(point).get(KEYS)) for point in points}

    async def count(self, scope: UserScope) -> int:
        """Exact count of the points in scope."""
        return await self._collection.count(to_filter(scope))

    async def delete(self, scope: UserScope) -> None:
        """See `Engine.delete`. It goes by a filter, so no id of another user is touched."""
        with self._watchers.told_of(of_scope(scope)):
            await self._collection.delete(to_filter(scope))
        await self._confirm()

    async def scrub(self, *, if_due: bool = False) -> bool:
        """Do nothing: the server clears its files by itself once enough was deleted."""
        return False

    async def traces(self, words: Sequence[str]) -> None:
        """Return None, as the files belong to the server."""

    def go_on_with(self, collection: str) -> None:
        """Use another index of this memory from now on."""
        self._collection = Collection(self._connection, collection)

    async def verify(self) -> None:
        """Do nothing: the server checks what it reads itself."""

    async def promise(self) -> str:
        """See `Engine.promise`. The collection's own configuration counts, not our settings."""
        found = await self._collection.info()
        nodes = found.config.params.replication_factor or 1
        needed = found.config.params.write_consistency_factor or 1
        return f"a round is acknowledged when it is on the disks of {needed} of {nodes} nodes"

    async def check(self) -> None:
        await self.count(UserScope("check"))
