"""Caches of recall for data that an engine reads slowly: outlines and records.

`RoundOutlines` holds what ranking must know of every candidate, `KnownRecords` the records recalled
last. Both are bounded, and drop a round when it is written again.
"""

import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from memory_store._points import records_in, scroll_in_parts
from memory_store._types import Record
from memory_store.engines._engine import Engine, Payload, UserScope
from memory_store.engines._layout import ENDS_ASKING
from memory_store.recall._speakers import Speakers, speakers_of
from memory_store.scheduler import in_slices

_NAMES = ("user_name", "assistant_name")
_FIELDS = ("session_id", "round_index", "word_count", ENDS_ASKING, *_NAMES)
# An outline takes about 250 bytes, and as much again for versions.
_MOST_ROUNDS = 200_000


class RoundOutline(NamedTuple):
    """What ranking needs of a round: its session, its number of words, its speakers, its index in
    the session, and whether it ends with a question that the next round may answer."""

    session_id: str
    words: int
    speakers: Speakers = frozenset()
    number: int = 0
    ends_asking: bool = False


@dataclass(slots=True)
class _Known:
    """The kept outlines of a user; `changes` counts how often some were dropped."""

    places: dict[int, RoundOutline] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)
    """The version in which a search found each round last; empty if nobody else writes."""
    changes: int = 0


class RoundOutlines:
    """The outlines of rounds of the users who asked last, as an engine reads them slowly.

    An outline is kept until its round is written again. The engine tells what this process writes;
    writes of other processes show in the version of the round when a search next finds it.
    """

    def __init__(self, engine: Engine, most_rounds: int = _MOST_ROUNDS) -> None:
        self._engine = engine
        self._most_rounds = most_rounds
        self._by_user: OrderedDict[str, _Known] = OrderedDict()
        self._rounds = 0
        engine.watch(self)

    async def of(self, user_id: str, ids: Sequence[int]) -> dict[int, RoundOutline]:
        """The outlines of a user's rounds that were just found, in their order; rounds that no
        longer exist are left out."""
        if not ids:
            return {}
        known = self._known(user_id)
        of_id = known.places.get
        places = {id: place for id in ids if (place := of_id(id))}
        if len(places) == len(ids):
            return places
        changes = known.changes
        read = await self._read(user_id, [id for id in ids if id not in places])
        # A round may have changed while it was read: then its outline may be out of date.
        if changes == known.changes:
            self._keep(user_id, known, read)
        return {id: place for id in ids if (place := places.get(id) or read.get(id))}

    def written(self, user_id: str, ids: Sequence[str] | None) -> None:
        """Drop the outlines of these rounds of a user, or with None of all of them."""
        if ids is None:
            self._let_go(user_id)
        elif known := self._by_user.get(user_id):
            self._drop(known, [uuid.UUID(id).int for id in ids])

    def found(self, user_id: str, versions: Mapping[int, int]) -> None:
        """Drop the outlines of rounds whose version is another one than before."""
        if not versions:
            return
        known = self._known(user_id)
        before = known.versions
        if versions.items() <= before.items():  # a fast check, which is true nearly always
            return
        other = [id for id, version in versions.items() if before.get(id) != version]
        if changed := [id for id in other if id in before or id in known.places]:
            self._drop(known, changed)
        before.update(versions)

    def _known(self, user_id: str) -> _Known:
        known = self._by_user.setdefault(user_id, _Known())
        self._by_user.move_to_end(user_id)
        return known

    async def _read(self, user_id: str, ids: Sequence[int]) -> dict[int, RoundOutline]:
        names = [str(uuid.UUID(int=id)) async for id in in_slices(ids)]
        hits = await scroll_in_parts(self._engine, UserScope(user_id, ids=tuple(names)), _FIELDS)
        return {uuid.UUID(hit.id).int: _place(hit.payload) async for hit in in_slices(hits)}

    def _keep(self, user_id: str, known: _Known, read: Mapping[int, RoundOutline]) -> None:
        if self._by_user.get(user_id) is not known:
            return
        before = len(known.places)
        known.places.update(read)
        self._rounds += len(known.places) - before
        while self._rounds > self._most_rounds and len(self._by_user) > 1:
            self._let_go(next(iter(self._by_user)))

    def _drop(self, known: _Known, ids: Sequence[int]) -> None:
        known.changes += 1
        for id in ids:
            self._rounds -= known.places.pop(id, None) is not None
            known.versions.pop(id, None)

    def _let_go(self, user_id: str) -> None:
        if known := self._by_user.pop(user_id, None):
            known.changes += 1
            self._rounds -= len(known.places)


def _place(payload: Payload) -> RoundOutline:
    names = speakers_of(*map(payload.get, _NAMES))
    return RoundOutline(
        payload["session_id"],
        int(payload["word_count"]),
        names,
        int(payload["round_index"]),
        bool(payload.get(ENDS_ASKING)),
    )


class RecordsById(Protocol):
    """An object that reads records of a user by their ids."""

    async def of(self, user_id: str, ids: Sequence[str]) -> dict[str, Record]:
        """The records of a user with these ids; none for ids that are gone or another user's."""


# Characters of text that are kept; a record takes some three times as many bytes.
_MOST_CHARACTERS = 16_000_000


class KnownRecords:
    """Records by id, for an engine that is slow to read them.

    If only this process writes to the engine, records are kept until they are written again; if
    other processes write too, they are read each time.
    """

    def __init__(self, engine: Engine, most_characters: int = _MOST_CHARACTERS) -> None:
        self._engine = engine
        self._most_characters = most_characters
        self._known: OrderedDict[str, Record] = OrderedDict()
        self._characters = 0
        self._writes = 0
        self._kept = engine.watch(self)

    async def of(self, user_id: str, ids: Sequence[str]) -> dict[str, Record]:
        """See `RecordsById.of`."""
        found = {id: self._known[id] for id in ids if self._is_known(user_id, id)}
        for id in found:
            self._known.move_to_end(id)
        missing = tuple(id for id in ids if id not in found)
        if missing:
            writes = self._writes
            records = await records_in(self._engine, UserScope(user_id, ids=missing))
            read = {record.id: record for record in records}
            if self._kept and writes == self._writes:
                self._keep(read)
            found |= read
        return found

    def _is_known(self, user_id: str, id: str) -> bool:
        return id in self._known and self._known[id].round.user_id == user_id

    def _keep(self, read: dict[str, Record]) -> None:
        for id, record in read.items():
            # Two calls at once may have read the same record.
            if id not in self._known:
                self._characters += record.round.size
            self._known[id] = record
        while self._characters > self._most_characters:
            _, oldest = self._known.popitem(last=False)
            self._characters -= oldest.round.size

    def written(self, user_id: str, ids: Sequence[str] | None) -> None:
        """Drop these records of a user, or with None all of them."""
        self._writes += 1
        if ids is None:
            ids = [id for id in self._known if self._is_known(user_id, id)]
        for id in ids:
            if record := self._known.pop(id, None):
                self._characters -= record.round.size

    def found(self, user_id: str, versions: Mapping[int, int]) -> None:
        """Do nothing: if other processes write, no record is kept."""
