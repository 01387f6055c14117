"""Translates points, scopes and queries for the embedded engine; the configuration of its shard,
and what its failures mean."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as qe

from memory_store._types import Days, Held
from memory_store.engines._engine import Point, UserScope
from memory_store.engines._layout import (
    EXPIRES,
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
from memory_store.errors import (
    StoreDamaged,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnavailable,
)

# If a user has fewer rounds than 5000 or than a twelfth of those the shard is made for, each of
# them is scanned for a word. Otherwise the index entries of the word, of all users, are read: one
# entry takes a twelfth of the time.
_SCANNED, _SHARE_SCANNED = 5000, 12


def config(dimension: int, rounds: int) -> qe.EdgeConfig:
    """The configuration of a shard for about this many rounds; it may get more."""
    keys = qe.EdgeVectorParams(
        size=dimension,
        distance=qe.Distance.Dot,  # keys have unit length: the inner product is the cosine
        datatype=qe.VectorStorageDatatype.Float16,  # half the size, faster to scan, ranks alike
        multivector_config=qe.MultiVectorConfig(qe.MultiVectorComparator.MaxSim),
    )
    scanned = max(_SCANNED, rounds // _SHARE_SCANNED)
    words = qe.EdgeSparseVectorParams(full_scan_threshold=scanned)
    return qe.EdgeConfig(
        vectors={KEYS: keys},
        sparse_vectors={WORDS: words},
        hnsw_config=qe.HnswIndexConfig(m=0, ef_construct=16, full_scan_threshold=10_000),
    )


def indexes() -> dict[str, Any]:
    return {
        USER: qe.KeywordIndexParams(is_tenant=True),
        SAID: qe.DatetimeIndexParams(is_principal=True),
        **{field: qe.KeywordIndexParams() for field in INDEXED_WORDS},
        **{field: qe.DatetimeIndexParams() for field in INDEXED_TIMES},
    }


def to_edge(point: Point) -> qe.Point:
    # A blank round has neither keys nor words, and the engine refuses empty vectors.
    vectors: dict[str, Any] = {}
    if len(point.keys):
        vectors[KEYS] = point.keys.tolist()
    if point.words:
        vectors[WORDS] = qe.SparseVector(list(point.words), list(point.words.values()))
    return qe.Point(point.id, vectors, dict(point.payload))


def to_number(point: Any) -> int:
    """The id of a found point as a number; every id that we write is a UUID."""
    number: int = point.id.int
    return number


def to_request(query: qe.Query, scope: UserScope, limit: int) -> qe.QueryRequest:
    # Reading a payload takes ten times as long as finding its point.
    return qe.QueryRequest(limit=limit, query=query, filter=to_filter(scope), with_payload=False)


def to_filter(scope: UserScope, turn_ids: Sequence[str] | None = None) -> qe.Filter:
    """The only builder of filters: all conditions of the scope, always with that on the user. With
    `turn_ids`, only points that hold exactly these turns pass."""
    must: list[Any] = [
        qe.FieldCondition(key=field, match=qe.MatchValue(value))
        for field, value in matches(scope).items()
    ]
    must += [one_of(field, values) for field, values in choices(scope)]
    if scope.ids is not None:
        must.append(qe.HasIdCondition({uuid.UUID(id) for id in scope.ids}))
    for field, days in ranges(scope).items():
        must.append(qe.FieldCondition(key=field, range=_date_range(days)))
    if scope.expired_by is not None:
        until = qe.RangeDateTime(lte=scope.expired_by.isoformat())
        must.append(qe.FieldCondition(key=EXPIRES, range=until))
    if turn_ids is not None:
        must += _turns_are(turn_ids)
    must_not: list[Any] = [one_of(field, values) for field, values in exclusions(scope)]
    return qe.Filter(must=must, must_not=must_not or None)


def one_of(field: str, values: Sequence[str]) -> qe.FieldCondition:
    return qe.FieldCondition(key=field, match=qe.MatchAny(list(values)))


def to_holding(held: Held) -> qe.Filter:
    """A filter for the points that hold exactly these turns; no point passes if `held` is empty."""
    if not held:
        return qe.Filter(must=[qe.HasIdCondition(set())])
    return qe.Filter(should=[_holds(id, turn_ids) for id, turn_ids in held.items()])


def _holds(id: str, turn_ids: Sequence[str]) -> qe.Filter:
    return qe.Filter(must=[qe.HasIdCondition({uuid.UUID(id)}), *_turns_are(turn_ids)])


def _turns_are(turn_ids: Sequence[str]) -> list[qe.FieldCondition]:
    each = [qe.FieldCondition(key=TURNS, match=qe.MatchValue(turn)) for turn in turn_ids]
    size = qe.ValuesCount(gte=len(turn_ids), lte=len(turn_ids))
    return [qe.FieldCondition(key=TURNS, values_count=size), *each]


def _date_range(days: Days) -> qe.RangeDateTime:
    first, after = instants(days)
    return qe.RangeDateTime(
        gte=first.isoformat() if first else None, lt=after.isoformat() if after else None
    )


# How texts of the engine and of Python name errors of the operating system.
_NO_ROOM = ("os error 28)", "Errno 28]", "os error 122)", "Errno 122]")
# The engine raises this when an invariant of its code is broken; the class cannot be imported.
_PANIC = "PanicException"
_NOT_WRITABLE = ("os error 30)", "Errno 30]", "os error 13)", "Errno 13]")


@contextmanager
def explaining(directory: Path) -> Iterator[None]:
    """Turn the engine's exceptions into errors that say what the operator can do."""
    try:
        yield
    except StoreUnavailable:
        raise
    except Exception as error:  # the engine raises bare Exception for everything
        raise _explained(str(error), directory) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise StoreDamaged(
            f"the files of the memory in {directory} cannot be read ({error}). Restore a backup "
            "with `assistant restore`"
        ) from error


def _explained(text: str, directory: Path) -> StoreUnavailable:
    if any(sign in text for sign in _NO_ROOM):
        return StoreFull(
            f"the disk of {directory} is full ({text}). Free some space; what was "
            "acknowledged is kept, and `assistant check` says how it stands"
        )
    if any(sign in text for sign in _NOT_WRITABLE):
        return StoreReadOnly(
            f"cannot write to {directory} ({text}). Make it writable for the user that "
            "runs the assistant, or give it another --data-dir; then run `assistant check`"
        )
    if "WouldBlock" in text:
        return StoreLocked(
            f"{directory} is in use by another process: stop that one (or ask it: "
            "`assistant ask`), or give this one its own --data-dir"
        )
    return StoreUnavailable(
        f"the memory in {directory} cannot be used: {text}. Run `assistant check`; if that fails "
        "too, restore a backup with `assistant restore`"
    )
