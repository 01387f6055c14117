"""The server engine as operators use it: see `OperatorEngine`."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from memory_store._identity import State, place_of, state_of
from memory_store.engines._engine import Payload, Point
from memory_store.engines._layout import (
    CLAIMED_BY,
    CLAIMED_UNTIL,
    IDENTITY_ID,
    KEYS,
    WORDS,
    to_matrix,
)
from memory_store.engines._operator import following
from memory_store.engines._server.collection import Collection
from memory_store.engines._server.engine import ServerEngine
from memory_store.engines._server.points import serving_alias, to_identity_point, vectors_of

_REMOVE_BATCH = 1000
_CLAIM = (CLAIMED_BY, CLAIMED_UNTIL)


class ServerOperator(ServerEngine):
    """One memory on a server, as a whole; assistants may be using it at the same time.

    The collection of a memory's first index has its name; later ones have a number behind it.
    """

    shared = True

    def __init__(self, url: str, *, index: str | None = None, **options: Any) -> None:
        super().__init__(url, **options)
        self._same = {"url": url, **options}
        self._exactly = index

    @property
    def place(self) -> str:
        """The server and the memory's name on it, without a key."""
        return f"{self._connection}, collection {self._exactly or self._named}"

    async def _serving(self) -> str:
        return self._exactly or await super()._serving()

    async def open_existing(self) -> Payload | None:
        async with self._opening():
            self._collection = Collection(self._connection, await self._serving())
            return await self.identity() if await self._collection.exists() else None

    async def sign(self, identity: Payload) -> None:
        """Write the identity; every live replica has it on return."""
        await self._collection.upsert([to_identity_point(identity)])

    async def _confirm(self) -> None:
        """Do nothing: an operator writes to a memory even while it is closed."""

    async def total(self) -> int:
        """How many rounds all users have."""
        signs = models.HasIdCondition(has_id=[IDENTITY_ID])
        return await self._collection.count(models.Filter(must_not=[signs]))

    async def browse(self, after: str | None, limit: int, *, with_keys: bool) -> list[Point]:
        page, _ = await self._call(
            lambda client: client.scroll(
                self._collection.name,
                offset=following(after),
                limit=limit,
                with_payload=True,
                with_vectors=with_keys,
            )
        )
        return [_from_server(record) for record in page]

    async def remove(self, ids: Sequence[str]) -> None:
        """Delete rounds by id."""
        for start in range(0, len(ids), _REMOVE_BATCH):
            batch: list[models.ExtendedPointId] = list(ids[start : start + _REMOVE_BATCH])
            await self._call(partial(self._delete, batch))

    async def _delete(self, ids: list[models.ExtendedPointId], client: AsyncQdrantClient) -> None:
        await client.delete(self._collection.name, ids, wait=True)

    def successor(self) -> "ServerOperator":
        """The collection with the next number."""
        return ServerOperator(index=self._next, **self._same)

    @property
    def _next(self) -> str:
        number = _number(self._collection.name, self._named) or 1
        return f"{self._named}.{number + 1}"

    async def hand_over(self) -> None:
        """Change the alias in one call; assistants started from now on use the successor."""
        alias = serving_alias(self._named)
        new = models.CreateAlias(collection_name=self._next, alias_name=alias)
        changes: list[models.AliasOperations] = [models.CreateAliasOperation(create_alias=new)]
        if self._collection.name != self._named:
            gone = models.DeleteAlias(alias_name=alias)
            changes.insert(0, models.DeleteAliasOperation(delete_alias=gone))
        await self._call(lambda client: client.update_collection_aliases(changes))

    async def drop(self) -> None:
        """Delete the collection."""
        await self._call(lambda client: client.delete_collection(self._collection.name))

    async def drop_retired(self) -> None:
        """Delete the memory's other collections that were closed for the one that serves."""
        serving = await self._serving()
        new = ServerOperator(index=serving, **self._same)
        listed = (await self._call(lambda client: client.get_collections())).collections
        for name in (collection.name for collection in listed):
            number = _number(name, self._named)
            if number is None or name == serving:
                continue
            retired = ServerOperator(index=name, **self._same)
            try:
                identity = await retired.open_existing() or {}
                if state_of(identity) is State.CLOSED and place_of(identity) == new.place:
                    await retired.drop()
            finally:
                await retired.close()


class RunningServer(ServerOperator):
    """The memory that a running assistant uses; after `hand_over` it uses the successor."""

    def __init__(self, engine: ServerEngine) -> None:
        super().__init__(engine.url, **engine.options)
        self._running = engine

    async def hand_over(self) -> None:
        """See `ServerOperator.hand_over`; this assistant uses the successor at once."""
        await super().hand_over()
        self._running.go_on_with(self._next)


def _number(collection: str, named: str) -> int | None:
    """The number of a collection among the indexes of the memory `named`; None for others."""
    if collection == named:
        return 1
    found = re.fullmatch(rf"{re.escape(named)}\.(\d+)", collection)
    return int(found[1]) if found else None


def _from_server(record: models.Record) -> Point:
    vectors = vectors_of(record)
    words = vectors.get(WORDS)
    return Point(
        id=str(record.id),
        keys=to_matrix(vectors.get(KEYS)),
        words=dict(zip(words.indices, words.values, strict=True)) if words else {},
        # A claim of a process that enriches the round is no part of the round.
        payload={k: v for k, v in (record.payload or {}).items() if k not in _CLAIM},
    )
