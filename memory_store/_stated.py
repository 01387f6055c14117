"""A view of a memory with only what the user stated, in their own words, and what still holds.

What is left out of a round is counted by reason: it was `replaced`, is `in_conflict` with something
that may be somebody else's, is `expired`, is in `others` words than the user's own, or is one of
the `answers` of the assistant.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo

from memory_store._changes.validity import Told
from memory_store._changes.writing import CORRECTION
from memory_store._labels import Where
from memory_store._listing import Listing, Page
from memory_store._member import is_anothers
from memory_store._reach import Reach
from memory_store._reader import MemoryOver, MemoryReader
from memory_store._types import Fact, Record, SessionSummary
from memory_store.recall._query import Query, Recall, Recalled

# Facts from these sources keep the user's own words; a model would reword them.
_VERBATIM = ("rule", "user", CORRECTION)
_Place = tuple[str, str]


class StatedMemory(MemoryOver):
    """The part of a memory that the user stated and that holds at a given time."""

    def __init__(self, of: MemoryReader, at: datetime) -> None:
        super().__init__(of)
        self._at = at

    def seen_up_to(self, reach: Reach) -> MemoryReader:
        """See `MemoryReader.seen_up_to`."""
        return StatedMemory(self._of.seen_up_to(reach), self._at)

    async def recall(self, query: Query) -> Recall:
        """Recall rounds, cut to what the user stated in them; count what is left out of them."""
        found = await self._of.recall(query)
        disputed = await self._disputed(query.user_id)
        left: Counter[str] = Counter()
        for one in found.rounds:
            left.update(self._left_out(one.record, disputed))
        rounds = tuple(self._recalled(found.rounds, disputed))
        sessions = tuple(
            replace(one, rounds=tuple(self._recalled(one.rounds, disputed)))
            for one in found.sessions
        )
        return replace(
            found,
            rounds=rounds,
            sessions=tuple(one for one in sessions if one.rounds),
            left_out=dict(left),
        )

    async def round(self, user_id: str, round_id: str) -> Record | None:
        """See `MemoryReader.round`."""
        found = await self._of.round(user_id, round_id)
        return next(iter(await self._stated(user_id, [found])), None) if found else None

    async def told(
        self,
        user_id: str,
        round_id: str,
        as_of: date | None = None,
        today: date | None = None,
        zone: tzinfo = UTC,
    ) -> Told | None:
        """See `MemoryReader.told`; the histories leave out what a fact replaced."""
        found = await self._of.told(user_id, round_id, as_of, today, zone)
        stated = await self._stated(user_id, [found.record]) if found else []
        if found is None or not stated:
            return None
        histories = dict(zip(found.record.facts, found.histories, strict=True))
        own = [
            tuple(step for step in histories[fact] if step.said.text == fact.text)
            for fact in stated[0].facts
        ]
        return Told(stated[0], tuple(own))

    async def session(self, user_id: str, session_id: str) -> list[Record]:
        """See `MemoryReader.session`."""
        return await self._stated(user_id, await self._of.session(user_id, session_id))

    async def sessions(
        self, user_id: str, where: Where = (), zone: tzinfo = UTC
    ) -> list[SessionSummary]:
        """See `MemoryReader.sessions`; without their openings, which may be no statements."""
        return [replace(one, opening="") for one in await self._of.sessions(user_id, where, zone)]

    async def listed(self, listing: Listing) -> Page:
        """See `MemoryReader.listed`."""
        page = await self._of.listed(listing)
        stated = await self._stated(listing.user_id, page.records)
        return replace(page, records=tuple(stated))

    async def records(self, user_id: str) -> list[Record]:
        """See `MemoryReader.records`."""
        return await self._stated(user_id, await self._of.records(user_id))

    async def _stated(self, user_id: str, records: Sequence[Record]) -> list[Record]:
        disputed = await self._disputed(user_id)
        cut = (self._cut(record, disputed) for record in records)
        return [record for record in cut if record]

    async def _disputed(self, user_id: str) -> set[_Place]:
        """The user's statements that a fact in doubt contradicts."""
        every = await self._of.conflicts(user_id)
        return {(held.round_id, held.text) for one in every for held in one.held}

    def _recalled(
        self, found: Iterable[Recalled], disputed: Collection[_Place]
    ) -> Iterable[Recalled]:
        for one in found:
            if record := self._cut(one.record, disputed):
                yield replace(one, record=record)

    def _cut(self, record: Record, disputed: Collection[_Place]) -> Record | None:
        facts = [fact for fact in record.facts if not self._why_not(record, fact, disputed)]
        if not facts:
            return None
        facts = [f for f in facts if not any(f.text in one.text != f.text for one in facts)]
        text = "\n".join(fact.text for fact in facts)
        round = replace(record.round, user_text=text, assistant_text="", reading=None, tools=())
        return replace(record, round=round, facts=tuple(facts), keyphrases=(), summary="")

    def _left_out(self, record: Record, disputed: Collection[_Place]) -> Iterable[str]:
        for fact in record.facts:
            if why := self._why_not(record, fact, disputed):
                yield why
        if record.round.assistant_text.strip():
            yield "answers"

    def _why_not(self, record: Record, fact: Fact, disputed: Collection[_Place]) -> str:
        """Why a fact is left out; empty if it is not."""
        expires_at = record.round.expires_at
        if expires_at and expires_at <= self._at:
            return "expired"
        parts = [one for one in record.facts if one.text in fact.text]
        if any(part.superseded_by for part in parts):
            return "replaced"
        if is_anothers(record.round) or not fact.is_users or fact.source not in _VERBATIM:
            return "others"
        return "in_conflict" if any((record.id, p.text) in disputed for p in parts) else ""
