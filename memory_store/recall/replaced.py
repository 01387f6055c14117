"""What was found, with what has replaced it: the newest statement comes before the older one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memory_store.changes.validity import HOPS
from memory_store.embedding.cache import Vector
from memory_store.embedding.embedder import Embedder
from memory_store.embedding.encoder import TextKind
from memory_store.types import Fact, Reason, Recalled, Record

SIGNAL = "replaces"
"""How far a round was lifted to come before one whose statement it replaced."""
# A fact this much of the round's closeness is what the round was found by.
_FOUND_BY = 0.8


async def newest_first(
    embedder: Embedder,
    vector: Vector,
    found: Sequence[Recalled],
    linked: Mapping[str, Record],
) -> list[Recalled]:
    """What was found, best first, each after the rounds that replaced what it was found by."""
    by_id = {one.record.id: one for one in found}
    for older in found:
        for fact in await _found_by(embedder, vector, older):
            newest = _newest(fact, linked)
            if newest is not None and newest.id != older.record.id:
                by_id[newest.id] = _lifted(newest, by_id.get(newest.id), older, fact)
    # The sort keeps the order of equals, and puts who was lifted before whom it was lifted to.
    return sorted(by_id.values(), key=lambda one: (-one.similarity, SIGNAL not in one.signals))


async def _found_by(embedder: Embedder, vector: Vector, found: Recalled) -> list[Fact]:
    """The replaced facts of a round that are as near to the query as the round itself."""
    replaced = [fact for fact in found.record.facts if fact.superseded_by]
    if not replaced:
        return []
    rows = await embedder.embed([fact.text for fact in replaced], TextKind.DOCUMENT)
    enough = _FOUND_BY * found.signals["dense"]
    return [fact for fact, cosine in zip(replaced, rows @ vector, strict=True) if cosine >= enough]


def _newest(fact: Fact, linked: Mapping[str, Record]) -> Record | None:
    """The round of the last fact in the chain of replacements."""
    newest: Record | None = None
    for _ in range(HOPS):
        link = fact.superseded_by
        if link is None or link.round_id not in linked:
            break
        newest = linked[link.round_id]
        fact = next(f for f in newest.facts if f.text == link.text)
    return newest


def _lifted(newest: Record, own: Recalled | None, older: Recalled, fact: Fact) -> Recalled:
    """The newer round, as near as the older one where it was not nearer by itself."""
    own = own or Recalled(newest, 0.0, dict.fromkeys(older.signals, 0.0))
    lift = max(0.0, older.similarity - own.similarity)
    if not lift:
        return own
    reason = Reason(SIGNAL, lift, 1.0, (fact.text,))
    return replace(
        own,
        similarity=older.similarity,
        signals={**own.signals, SIGNAL: lift},
        reasons=(*own.reasons, reason) if older.reasons else (),
    )
