"""Translates points, scopes and queries for the Qdrant server; the shape of its collection."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from qdrant_client import grpc, models
from qdrant_client.conversions.conversion import RestToGrpc

from memory_store._identity import State
from memory_store._types import EnrichmentState, Held
from memory_store.engines._engine import Claim, Payload, Point, Similarities, UserScope
from memory_store.engines._layout import (
    CLAIMED_BY,
    CLAIMED_UNTIL,
    EXPIRES,
    IDENTITY_ID,
    INDEXED_TIMES,
    INDEXED_WORDS,
    KEYS,
    SAID,
    TURNS,
    USER,
    WORDS,
    choices,
    exclusions,
    instants,
    matches,
    ranges,
)

# Every search is for one user and scans that user's keys exactly, as in the embedded engine. Graphs
# for single users (payload_m) would come with one over all keys along the dates (decision 4).
GRAPHS = models.HnswConfigDiff(m=0, payload_m=0)
# Indexes are made before any data, so that the server lays out its data by tenant and date.
_KEYWORD = models.KeywordIndexType.KEYWORD
_DATETIME = models.DatetimeIndexType.DATETIME
INDEXES: dict[str, models.PayloadSchemaParams] = {
    USER: models.KeywordIndexParams(type=_KEYWORD, is_tenant=True),
    SAID: models.DatetimeIndexParams(type=_DATETIME, is_principal=True),
    **{field: models.KeywordIndexParams(type=_KEYWORD) for field in INDEXED_WORDS},
    **{field: models.DatetimeIndexParams(type=_DATETIME) for field in INDEXED_TIMES},
}
_version = attrgetter("version")
# An identity may be replaced only if it is that of a finished copy that nobody has used yet.
UNCLAIMED = models.Filter(
    must=[
        models.FieldCondition(key="state", match=models.MatchValue(value=State.COPIED.value)),
        models.HasIdCondition(has_id=[IDENTITY_ID]),
    ]
)


def serving_alias(collection: str) -> str:
    """The alias for the serving index of a memory that has been reindexed."""
    return f"{collection}.serving"


def to_identity_point(identity: Payload) -> models.PointStruct:
    """The point that holds the identity of the memory; it has no user."""
    return models.PointStruct(id=IDENTITY_ID, vector={}, payload=dict(identity))


def keys_config(dimension: int) -> models.VectorParams:
    return models.VectorParams(
        size=dimension,
        distance=models.Distance.DOT,  # keys have unit length: the inner product is the cosine
        datatype=models.Datatype.FLOAT16,  # as the embedded engine holds them
        on_disk=True,  # mapped from the disk: keys that nobody searches need no memory
        multivector_config=models.MultiVectorConfig(
            comparator=models.MultiVectorComparator.MAX_SIM
        ),
    )


# If a user has fewer rounds than this, each of them is scanned for a word. Otherwise the index
# entries of the word, of all users, are read, which are many among a million rounds.
_SCANNED = 20_000


def words_config() -> models.SparseVectorParams:
    index = models.SparseIndexParams(full_scan_threshold=_SCANNED)
    return models.SparseVectorParams(index=index)


def is_ours(params: models.CollectionParams, dimension: int) -> bool:
    vectors, words = params.vectors, (params.sparse_vectors or {}).get(WORDS)
    keys = vectors.get(KEYS) if isinstance(vectors, dict) else None
    wanted = keys_config(dimension)
    return (
        keys is not None
        and keys.multivector_config == wanted.multivector_config
        and (keys.size, keys.distance, keys.datatype)
        == (wanted.size, wanted.distance, wanted.datatype)
        and words is not None
        and words.modifier in (None, models.Modifier.NONE)
    )


def to_server(point: Point) -> models.PointStruct:
    # A blank round has neither keys nor words, and the server refuses empty vectors.
    vectors: dict[str, Any] = {}
    if len(point.keys):
        vectors[KEYS] = point.keys.tolist()
    if point.words:
        vectors[WORDS] = models.SparseVector(
            indices=list(point.words), values=list(point.words.values())
        )
    return models.PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))


def to_replacing(point: Point, turn_ids: Sequence[str]) -> list[models.UpdateOperation]:
    """The operations that write the point over one that holds these turns. Keys and words come
    first: after an interruption the payload shows that the writing is still to be done.

    The operations of two writers may interleave. If the turns of the point change, its keys and
    words are written once more under the new turns, as another writer's may have come between."""
    before, after = (to_holding({point.id: tuple(t)}) for t in (turn_ids, point.payload[TURNS]))
    payload = models.SetPayload(payload=dict(point.payload), filter=before)
    return [
        *_to_vectors(point, before),
        models.OverwritePayloadOperation(overwrite_payload=payload),
        *(_to_vectors(point, after) if after != before else ()),
    ]


def _to_vectors(point: Point, holding: models.Filter) -> list[models.UpdateOperation]:
    """Operations that set the keys and words of a point that passes the filter, and delete the rest
    of its vectors."""
    vectors = to_server(point).vector
    assert isinstance(vectors, dict)
    operations: list[models.UpdateOperation] = []
    if vectors:
        written = models.PointVectors(id=point.id, vector=vectors)
        update = models.UpdateVectors(points=[written], update_filter=holding)
        operations.append(models.UpdateVectorsOperation(update_vectors=update))
    if gone := [name for name in (KEYS, WORDS) if name not in vectors]:
        delete = models.DeleteVectors(vector=gone, filter=holding)
        operations.append(models.DeleteVectorsOperation(delete_vectors=delete))
    return operations


def to_request(
    query: models.NearestQuery, using: str, scope: UserScope, limit: int
) -> models.QueryRequest:
    return models.QueryRequest(
        query=query, using=using, filter=to_filter(scope), limit=limit, with_payload=False
    )


def to_batch(collection: str, requests: Sequence[models.QueryRequest]) -> grpc.QueryBatchPoints:
    """Several queries as one message."""
    queries = [RestToGrpc.convert_query_request(request, collection) for request in requests]
    return grpc.QueryBatchPoints(collection_name=collection, query_points=queries)


def to_similarities(found: grpc.BatchResult) -> Similarities:
    """The points that one query found, from the message of the server."""
    return {int(p.id.uuid.replace("-", ""), 16): p.score for p in found.result}


def versions_of(found: grpc.BatchResult) -> Iterator[int]:
    """The version in which each point of one query was found."""
    return map(_version, found.result)


def vectors_of(point: models.Record) -> dict[str, Any]:
    """The named vectors of a point; none where it has none."""
    return point.vector if isinstance(point.vector, dict) else {}


def to_filter(scope: UserScope, turn_ids: Sequence[str] | None = None) -> models.Filter:
    """The only builder of filters: all conditions of the scope, always with that on the user. With
    `turn_ids`, only points that hold exactly these turns pass."""
    must: list[models.Condition] = [
        models.FieldCondition(key=field, match=models.MatchValue(value=value))
        for field, value in matches(scope).items()
    ]
    must += [one_of(field, values) for field, values in choices(scope)]
    if scope.ids is not None:
        must.append(models.HasIdCondition(has_id=list(scope.ids)))
    for field, days in ranges(scope).items():
        first, after = instants(days)
        then = models.DatetimeRange(gte=first, lt=after)
        must.append(models.FieldCondition(key=field, range=then))
    if scope.expired_by is not None:
        until = models.DatetimeRange(lte=scope.expired_by)
        must.append(models.FieldCondition(key=EXPIRES, range=until))
    if turn_ids is not None:
        must += _turns_are(turn_ids)
    must_not: list[models.Condition] = [
        one_of(field, values) for field, values in exclusions(scope)
    ]
    return models.Filter(must=must, must_not=must_not or None)


def to_waiting(scope: UserScope, held: Held) -> models.Filter:
    """A filter for the points in scope that hold exactly these turns and wait for enrichment."""
    pending = models.MatchValue(value=EnrichmentState.PENDING.value)
    waits = models.FieldCondition(key="enrichment", match=pending)
    return models.Filter(must=[to_filter(scope), waits, to_holding(held)])


def claimed_by(worker: str) -> models.FieldCondition:
    return models.FieldCondition(key=CLAIMED_BY, match=models.MatchValue(value=worker))


def lapsed_at(now: datetime) -> models.FieldCondition:
    """A condition for points whose claim is over at this time."""
    return models.FieldCondition(key=CLAIMED_UNTIL, range=models.DatetimeRange(lte=now))


def free_for(claim: Claim, now: datetime) -> models.Filter:
    """A filter for the points that nobody else has claimed at this time."""
    nobody = models.IsEmptyCondition(is_empty=models.PayloadField(key=CLAIMED_UNTIL))
    return models.Filter(should=[nobody, lapsed_at(now), claimed_by(claim.by)])


def one_of(field: str, values: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))


def to_holding(held: Held) -> models.Filter:
    """A filter for the points that hold exactly these turns; no point passes if `held` is empty."""
    if not held:
        return models.Filter(must=[models.HasIdCondition(has_id=[])])
    return models.Filter(should=[_holds(id, turn_ids) for id, turn_ids in held.items()])


def _holds(id: str, turn_ids: Sequence[str]) -> models.Filter:
    return models.Filter(must=[models.HasIdCondition(has_id=[id]), *_turns_are(turn_ids)])


def _turns_are(turn_ids: Sequence[str]) -> list[models.FieldCondition]:
    size = models.ValuesCount(gte=len(turn_ids), lte=len(turn_ids))
    each = [
        models.FieldCondition(key=TURNS, match=models.MatchValue(value=turn)) for turn in turn_ids
    ]
    return [models.FieldCondition(key=TURNS, values_count=size), *each]
