"""What ranking must know of every candidate, read once: its session, its length, whose it is."""

import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memory_store.engines.engine import Engine, Payload, Scope
from memory_store.recall.speakers import Speakers, speakers_of
from memory_store.types import Record

_NAMES = ("user_name", "assistant_name")
_FIELDS = ("session_id", "word_count", "fact_count", *_NAMES)
# About 250 bytes each.
_MOST_ROUNDS = 200_000


class Place(NamedTuple):
    """The session of a round, how many words it has, whether it tells of the user, and the names
    of those who speak in it."""

    session_id: str
    words: int
    personal: bool
    speakers: Speakers = frozenset()


class Places:
    """The places of the rounds of the users who asked last. An engine reads them slowly.

    A round never leaves its session; the rest changes only when it is written again, so writers
    say which rounds they wrote (`forget`).
    """

    def __init__(self, most_rounds: int = _MOST_ROUNDS) -> None:
        self._most_rounds = most_rounds
        self._by_user: OrderedDict[str, dict[int, Place]] = OrderedDict()
        self._rounds = 0

    async def of(self, engine: Engine, user_id: str, ids: Iterable[int]) -> Mapping[int, Place]:
        """The places of a user's rounds, maybe of more; none of a round that is gone."""
        known = self._by_user.get(user_id, {})
        missing = [str(uuid.UUID(int=id)) for id in ids if id not in known]
        if missing:
            hits = await engine.scroll(Scope(user_id, ids=tuple(missing)), _FIELDS)
            # Looked up again: another recall of this user may have come first.
            known = self._by_user.setdefault(user_id, {})
            before = len(known)
            for hit in hits:
                known[uuid.UUID(hit.id).int] = _place(hit.payload)
            self._rounds += len(known) - before
        if known:
            self._by_user.move_to_end(user_id)
            self._shrink()
        return known

    def forget(self, records: Iterable[Record]) -> None:
        """Read the places of these rounds again when they are next asked for."""
        for record in records:
            known = self._by_user.get(record.round.user_id)
            if known and known.pop(uuid.UUID(record.id).int, None):
                self._rounds -= 1

    def forget_user(self, user_id: str) -> None:
        """Let go of everything of a user."""
        self._rounds -= len(self._by_user.pop(user_id, ()))

    def _shrink(self) -> None:
        while self._rounds > self._most_rounds and len(self._by_user) > 1:
            _, places = self._by_user.popitem(last=False)
            self._rounds -= len(places)


def _place(payload: Payload) -> Place:
    names = speakers_of(*map(payload.get, _NAMES))
    return Place(
        payload["session_id"], int(payload["word_count"]), payload["fact_count"] > 0, names
    )
