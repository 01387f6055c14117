"""A shared space as one of its members sees it: the member's own rounds are said by "you", rounds
of other members by their names."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, tzinfo

from memory_store._changes.validity import Told
from memory_store._listing import Listing, Page
from memory_store._owners import is_shared
from memory_store._reach import Reach
from memory_store._reader import MemoryOver, MemoryReader
from memory_store._types import Record, Round
from memory_store.recall._query import Query, Recall, Recalled


def is_anothers(round: Round) -> bool:
    """Whether somebody other than the reading member of a shared space said this round."""
    return is_shared(round.user_id) and bool(round.user_name)


class MemberMemory(MemoryOver):
    """A shared space as read by one member. The member's own rounds bear no name, as in a memory
    of one user."""

    def __init__(self, of: MemoryReader, person: str) -> None:
        super().__init__(of)
        self._person = person

    def seen_up_to(self, reach: Reach) -> MemoryReader:
        """See `MemoryReader.seen_up_to`."""
        return MemberMemory(self._of.seen_up_to(reach), self._person)

    async def recall(self, query: Query) -> Recall:
        """See `MemoryReader.recall`."""
        found = await self._of.recall(replace(query, asker=self._person))
        return replace(
            found,
            rounds=self._found(found.rounds),
            values=None if found.values is None else self._found(found.values),
            sessions=tuple(replace(one, rounds=self._found(one.rounds)) for one in found.sessions),
        )

    async def round(self, user_id: str, round_id: str) -> Record | None:
        """See `MemoryReader.round`."""
        found = await self._of.round(user_id, round_id)
        return found and self._told(found)

    async def told(
        self,
        user_id: str,
        round_id: str,
        as_of: date | None = None,
        today: date | None = None,
        zone: tzinfo = UTC,
    ) -> Told | None:
        """See `MemoryReader.told`."""
        found = await self._of.told(user_id, round_id, as_of, today, zone)
        return found and replace(found, record=self._told(found.record))

    async def session(self, user_id: str, session_id: str) -> list[Record]:
        """See `MemoryReader.session`."""
        return [*map(self._told, await self._of.session(user_id, session_id))]

    async def listed(self, listing: Listing) -> Page:
        """See `MemoryReader.listed`."""
        page = await self._of.listed(listing)
        return replace(page, records=tuple(map(self._told, page.records)))

    async def records(self, user_id: str) -> list[Record]:
        """See `MemoryReader.records`."""
        return [*map(self._told, await self._of.records(user_id))]

    def _found(self, found: Iterable[Recalled]) -> tuple[Recalled, ...]:
        return tuple(replace(one, record=self._told(one.record)) for one in found)

    def _told(self, record: Record) -> Record:
        if record.round.user_name != self._person:
            return record
        return replace(record, round=replace(record.round, user_name=None))
