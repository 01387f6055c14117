"""Documents on a Qdrant server: points without vectors, in a collection beside the memory's.

A condition on the version lets only one of several writers through, wherever they are, and each
reads back whether it was the one. In a cluster most replicas are asked, so that a write that only
one replica has does not count as done.
"""

import json
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Unpack

from qdrant_client import models

from memory_store._documents import NONE, Body, Document, WriteOutcome, following
from memory_store.engines._server.collection import Collection, CollectionOptions, OnServer
from memory_store.engines._server.points import to_holding

_NAMES = uuid.UUID("6f1f3d0e-6f0c-4c55-9d5a-0f5c3c0d7a11")
_VERSION, _EARLIER, _BODY, _UNTIL = "version", "earlier", "body", "until"


class ServerDocuments(OnServer):
    """See `Documents`. It takes the options of `ServerEngine`; `collection` is the memory's."""

    def __init__(self, url: str, **options: Unpack[CollectionOptions]) -> None:
        super().__init__(url, **options)
        self._collection = Collection(self._connection, f"{self._named}.shared")
        self._spread["shard_number"] = 1

    async def open(self, *, make: bool = True) -> bool:
        async with self._opening():
            there = await self._collection.exists()
            if make and not there:
                await self._collection.create(vectors_config={}, **self._spread)
            return there or make

    async def versions(self, names: Sequence[str]) -> dict[str, str]:
        by_id = {_id(name): name for name in names}
        found = await self._collection.read(list(by_id), fields=[_VERSION])
        return {by_id[str(point.id)]: (point.payload or {})[_VERSION] for point in found}

    async def read(self, name: str) -> Document:
        """See `Documents.read`. Any replica may answer: a write over an old version is refused."""
        return _document(await self._collection.read([_id(name)]))

    async def write(
        self, name: str, body: Body, over: Document, *, until: datetime | None = None
    ) -> WriteOutcome:
        new = following(over, body)
        payload = {
            _VERSION: new.version,
            _EARLIER: list(new.earlier),
            _BODY: json.dumps(body),
            _UNTIL: until.timestamp() if until else None,
        }
        if over.version == NONE:
            # The filter matches no point, so an existing document is left as it is.
            point = models.PointStruct(id=_id(name), vector={}, payload=payload)
            await self._collection.upsert([point], only_if=to_holding({}))
        else:
            await self._collection.set_payload(payload, _only(name, over.version))
        there = _document(await self._collection.read_agreed([_id(name)]))
        return WriteOutcome(new.version in (there.version, *there.earlier), there)

    async def drop(self, before: datetime) -> None:
        over = models.FieldCondition(key=_UNTIL, range=models.Range(lt=before.timestamp()))
        await self._collection.delete(models.Filter(must=[over]))


def _only(name: str, version: str) -> models.Filter:
    """A filter for the document of this name, if it has this version."""
    return models.Filter(
        must=[
            models.HasIdCondition(has_id=[_id(name)]),
            models.FieldCondition(key=_VERSION, match=models.MatchValue(value=version)),
        ]
    )


def _document(found: Sequence[models.Record]) -> Document:
    if not found:
        return Document()
    payload = found[0].payload or {}
    return Document(payload[_VERSION], json.loads(payload[_BODY]), tuple(payload[_EARLIER]))


def _id(name: str) -> str:
    return str(uuid.uuid5(_NAMES, name))
