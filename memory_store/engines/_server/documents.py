"""Documents on a Qdrant server: points without vectors, in a collection beside the memory's.

A condition on the version lets one of several writers through, wherever they are; each reads back
whether it was that one. Of a cluster most replicas are asked, so that nobody takes for written what
only one of them has.
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
    """See `Documents`. Takes what `ServerEngine` takes; the collection is that of the memory."""

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
        """See `Documents.read`. Of any replica: who writes over an old version is told so."""
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
            # A document that is there passes no filter, and is left as it is.
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
    """The document of a name in this version."""
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
