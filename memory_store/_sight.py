"""A memory as a reader sees it: rounds that are held back from the reader do not exist in it.

This is the one place where reach is enforced. All that a reader reads goes through a `Sight`, which
narrows every scope; nothing that a reader asks for can widen it again. Facts of other rounds may
link to a held-back round and repeat its words: these are taken out as the rounds are read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from memory_store._changes.links import HELD_BACK, link_targets
from memory_store._points import from_plain, records_in, scroll_in_parts, to_plain
from memory_store._reach import Reach
from memory_store._types import Record
from memory_store.embedding.encoder import Matrix
from memory_store.engines._engine import (
    Payload,
    ReadableEngine,
    Similarities,
    StoredPoint,
    UserScope,
)

_LINKED = "facts"


class Sight:
    """The reading side of an engine, up to a reach that may change while it is used."""

    def __init__(self, engine: ReadableEngine, up_to: Callable[[], Reach]) -> None:
        self._engine = engine
        self._up_to = up_to

    async def nearest(
        self, vector: npt.NDArray[np.float32], scope: UserScope, limit: int
    ) -> Similarities:
        """See `Engine.nearest`."""
        return await self._engine.nearest(vector, self._narrowed(scope), limit)

    async def postings(
        self, terms: Sequence[int], scope: UserScope, limit: int
    ) -> list[Similarities]:
        """See `Engine.postings`."""
        return await self._engine.postings(terms, self._narrowed(scope), limit)

    async def keys(self, scope: UserScope) -> dict[str, Matrix]:
        """See `Engine.keys`."""
        return await self._engine.keys(self._narrowed(scope))

    async def count(self, scope: UserScope) -> int:
        """See `Engine.count`."""
        # An engine may keep the number of all points of a user, so only the others are counted.
        return await self._engine.count(scope) - await self._engine.count(self._held(scope))

    async def scroll(
        self, scope: UserScope, fields: Sequence[str] | None = None
    ) -> list[StoredPoint]:
        """See `Engine.scroll`."""
        found = await self._engine.scroll(self._narrowed(scope), fields)
        targets = {id for one in found for id in _targets(one.payload)}
        held = await self.held_back(scope.user_id, targets)
        return [replace(one, payload=_without(one.payload, held)) for one in found]

    async def unlinked(self, record: Record) -> Record:
        """The record without the words of linked rounds that are held back."""
        held = await self.held_back(record.round.user_id, link_targets([record]))
        return from_plain(_without(to_plain(record), held)) if held else record

    async def held_back(self, user_id: str, ids: set[str]) -> set[str]:
        """The ids of those of these rounds that are held back."""
        if not ids:
            return set()
        scope = self._held(UserScope(user_id, ids=tuple(sorted(ids))))
        return {one.id for one in await scroll_in_parts(self._engine, scope, ["session_id"])}

    def _narrowed(self, scope: UserScope) -> UserScope:
        return replace(scope, up_to=self._up_to())

    def _held(self, scope: UserScope) -> UserScope:
        return replace(scope, beyond=self._up_to())


class SeenRecords:
    """The records that the whole memory keeps at hand, as a reader may see them."""

    def __init__(self, known: Callable[..., Any], sight: Sight) -> None:
        self._known = known
        self._sight = sight

    async def of(self, user_id: str, ids: Sequence[str]) -> dict[str, Record]:
        """The records of a user with these ids, without rounds that do not exist, belong to another
        user or are held back."""
        found: dict[str, Record] = await self._known(user_id, ids)
        held = await self._sight.held_back(user_id, {*found, *link_targets(found.values())})
        if not held:
            return found
        seen = {id: one for id, one in found.items() if id not in held}
        telling = [id for id, one in seen.items() if not held.isdisjoint(link_targets([one]))]
        if not telling:
            return seen
        read = await records_in(self._sight, UserScope(user_id, ids=tuple(telling)))
        silent = {id: one for id, one in seen.items() if id not in telling}
        return silent | {one.id: one for one in read}


def _targets(payload: Payload) -> set[str]:
    """Ids of the rounds that the facts of a payload are linked to."""
    return {link["round_id"] for fact in payload.get(_LINKED, ()) for link in _links(fact)}


def _links(fact: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    newer = fact.get("superseded_by")
    return [*fact.get("supersedes", ()), *fact.get("contradicts", ()), *([newer] if newer else ())]


def _without(payload: Payload, held: set[str]) -> Payload:
    """The payload without the words of these rounds. A fact that one of them replaced keeps a link
    without words, as it no longer holds."""
    if not held or held.isdisjoint(_targets(payload)):
        return payload
    return {**payload, _LINKED: [_unlinked(fact, held) for fact in payload[_LINKED]]}


def _unlinked(fact: Mapping[str, Any], held: set[str]) -> dict[str, Any]:
    seen = dict(fact)
    for name in ("supersedes", "contradicts"):
        if name in seen:
            seen[name] = [link for link in seen[name] if link["round_id"] not in held]
    newer = seen.get("superseded_by")
    if newer and newer["round_id"] in held:
        seen["superseded_by"] = {**newer, "text": HELD_BACK, "by": HELD_BACK}
    return seen
