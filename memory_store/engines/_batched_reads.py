"""Reads of many points, some at a time: a filter of thousands of ids takes long for every page."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_store._points import from_payload
from memory_store._types import Record
from memory_store.engines._engine import Engine, Similarities, StoredPoint, UserScope
from memory_store.scheduler import in_slices, pause

_AT_ONCE = 256
_TERMS_AT_ONCE = 64


async def scroll_in_parts(
    engine: Engine, scope: UserScope, fields: Sequence[str] | None = None
) -> list[StoredPoint]:
    """Every point in scope, each once, however many ids, slots or repeated rounds that names."""
    found: dict[str, StoredPoint] = {}
    for part in _parts(scope):
        found |= {hit.id: hit for hit in await engine.scroll(part, fields)}
        await pause()
    return list(found.values())


async def records_in(
    engine: Engine, scope: UserScope, fields: Sequence[str] | None = None
) -> list[Record]:
    """The records in scope."""
    hits = await scroll_in_parts(engine, scope, fields)
    return [from_payload(hit.payload) async for hit in in_slices(hits)]


async def postings_in_parts(
    engine: Engine, terms: Sequence[int], scope: UserScope, limit: int
) -> list[Similarities]:
    """`Engine.postings` of however many terms."""
    found: list[Similarities] = []
    for start in range(0, len(terms), _TERMS_AT_ONCE):
        await pause()
        found += await engine.postings(terms[start : start + _TERMS_AT_ONCE], scope, limit)
    return found


def _parts(scope: UserScope) -> Iterator[UserScope]:
    """The scope as several, each with some of what it names many of."""
    for name in ("ids", "slots", "repeats"):
        named = getattr(scope, name)
        if named is not None and len(named) > _AT_ONCE:
            for start in range(0, len(named), _AT_ONCE):
                yield replace(scope, **{name: named[start : start + _AT_ONCE]})
            return
    yield scope
