"""One collection of a Qdrant server, its calls, and the base of classes that use one.

A write returns when every live replica has applied it. When several processes write one point at
once, all replicas end with the same version.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypedDict, Unpack

from qdrant_client import AsyncQdrantClient, models

from memory_store.engines._server.connection import RETRIES, TIMEOUT_SECONDS, Connection
from memory_store.errors import MemoryStoreError

_ORDERING = models.WriteOrdering.MEDIUM
_SCROLL_PAGE = 512


class Collection:
    """A collection by its name. The connection repeats failed calls."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.name = name
        self._connection = connection
        self._call = connection.call

    async def exists(self) -> bool:
        """Whether the collection exists."""
        return await self._call(lambda client: client.collection_exists(self.name))

    async def create(self, **shape: Any) -> None:
        """Create the collection, unless another process is faster."""
        try:
            await self._call(lambda client: client.create_collection(self.name, **shape))
        except MemoryStoreError:
            if not await self.exists():
                raise

    async def info(self) -> models.CollectionInfo:
        """The server's description of the collection."""
        return await self._call(lambda client: client.get_collection(self.name))

    async def index(self, field: str, schema: models.PayloadSchemaParams) -> None:
        """Index a payload field. It is idempotent, so any number of processes may start at once."""
        await self._call(
            lambda client: client.create_payload_index(
                self.name, field, schema, wait=True, ordering=_ORDERING
            )
        )

    async def upsert(
        self, points: list[models.PointStruct], only_if: models.Filter | None = None
    ) -> None:
        """Write points; existing points are only written over if they pass the filter."""
        await self._call(
            lambda client: client.upsert(
                self.name, points, wait=True, ordering=_ORDERING, update_filter=only_if
            )
        )

    async def update(
        self, client: AsyncQdrantClient, operations: Sequence[models.UpdateOperation]
    ) -> None:
        """Do several operations in order, without retries of its own."""
        await client.batch_update_points(self.name, operations, wait=True, ordering=_ORDERING)

    async def set_payload(self, payload: dict[str, Any], selected: models.Filter) -> None:
        """Replace these fields of the points selected."""
        await self._call(
            lambda client: client.set_payload(
                self.name, payload, selected, wait=True, ordering=_ORDERING
            )
        )

    async def delete(self, selected: models.Filter) -> None:
        """Delete the points selected."""
        selector = models.FilterSelector(filter=selected)
        await self._call(
            lambda client: client.delete(self.name, selector, wait=True, ordering=_ORDERING)
        )

    async def count(self, selected: models.Filter) -> int:
        """How many points are selected, exactly."""
        counted = await self._call(
            lambda client: client.count(self.name, count_filter=selected, exact=True)
        )
        return counted.count

    async def read(
        self, ids: Sequence[str], *, fields: bool | list[str] = True
    ) -> list[models.Record]:
        """The existing points with these ids, without their vectors."""
        return await self._call(
            lambda client: client.retrieve(
                self.name, list(ids), with_payload=fields, with_vectors=False
            )
        )

    async def read_agreed(self, ids: Sequence[str]) -> list[models.Record]:
        """Like `read`, but as most replicas have the points. Only call it after a write: see
        `Connection.agreed`."""
        return await self._connection.agreed(
            lambda client, consistency: client.retrieve(
                self.name, list(ids), with_payload=True, consistency=consistency
            )
        )

    async def ids_agreed(self, selected: models.Filter, limit: int) -> set[str]:
        """The ids of selected points, as most replicas have them; also only after a write."""
        points, _ = await self._connection.agreed(
            lambda client, consistency: client.scroll(
                self.name,
                scroll_filter=selected,
                limit=limit,
                with_payload=False,
                consistency=consistency,
            )
        )
        return {str(point.id) for point in points}

    async def scrolled(self, selected: models.Filter, **wanted: Any) -> list[models.Record]:
        """All selected points with the parts `wanted`, read page by page."""
        points: list[models.Record] = []
        page: list[models.Record]
        offset: models.ExtendedPointId | None = None
        while True:
            page, offset = await self._call(
                partial(self._page, selected=selected, offset=offset, wanted=wanted)
            )
            points += page
            if offset is None:
                return points

    async def _page(
        self,
        client: AsyncQdrantClient,
        *,
        selected: models.Filter,
        offset: models.ExtendedPointId | None,
        wanted: dict[str, Any],
    ) -> tuple[list[models.Record], models.ExtendedPointId | None]:
        return await client.scroll(
            self.name, scroll_filter=selected, limit=_SCROLL_PAGE, offset=offset, **wanted
        )


class CollectionOptions(TypedDict, total=False):
    """A collection and how to reach its server. The last three only count when it is created."""

    grpc_port: int
    api_key: str | None
    timeout: int
    retries: int
    collection: str
    shards: int
    replication: int
    write_consistency: int


class OnServer:
    """Base of classes that keep points in a collection of the Qdrant at `url`."""

    def __init__(self, url: str, **options: Unpack[CollectionOptions]) -> None:
        self.url, self.options = url, options
        self._timeout = options.get("timeout", TIMEOUT_SECONDS)
        self._connection = Connection(
            url,
            grpc_port=options.get("grpc_port", 6334),
            api_key=options.get("api_key"),
            timeout=self._timeout,
            retries=options.get("retries", RETRIES),
        )
        self._named = options.get("collection", "aide_memoire")
        self._collection = Collection(self._connection, self._named)
        self._spread: dict[str, Any] = {
            "shard_number": options.get("shards", 1),
            "replication_factor": options.get("replication", 1),
            "write_consistency_factor": options.get("write_consistency", 1),
        }

    @asynccontextmanager
    async def _opening(self) -> AsyncIterator[None]:
        """Connect; a failure inside closes the connections again."""
        await self._connection.open()
        try:
            yield
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()
