"""What of the recorded updates holds, seen from a day: links that lead nowhere, or to what was
said later, are left out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from memory_store.engines.batched_reads import records_in
from memory_store.engines.engine import Engine, Scope
from memory_store.scheduler import in_slices
from memory_store.types import Days, Fact, FactLink, Record

HOPS = 8
"""A chain of replacements longer than this is followed no further."""


async def linked_records(
    engine: Engine, user_id: str, days: Days, records: Mapping[str, Record]
) -> dict[str, Record]:
    """The records by id, with those that their links lead to, and so on. Only links that hold
    within the days are left in them."""
    known = dict(records)
    new: Sequence[Record] = list(records.values())
    for _ in range(HOPS):
        wanted = {id async for one in in_slices(new) for id in link_targets([one])} - set(known)
        if not wanted:
            break
        new = await records_in(engine, Scope(user_id, days=days, ids=tuple(wanted)))
        known |= {record.id: record for record in new}
    standing = LinksOnADay(known, days.last)
    return {id: standing.of(record) async for id, record in in_slices(known.items())}


def link_targets(records: Iterable[Record]) -> set[str]:
    """Ids of the rounds that the facts of the records are linked to."""
    return {
        link.round_id
        for record in records
        for fact in record.facts
        for link in (*fact.supersedes, *fact.contradicts, *filter(None, (fact.superseded_by,)))
    }


class LinksOnADay:
    """Records with the links that hold on a day.

    `linked` are the records that links lead to, by id. A round that was forgotten or written
    differently takes its links with it.
    """

    def __init__(self, linked: Mapping[str, Record], until: date | None) -> None:
        self._linked = linked
        self._until = until
        self._texts: dict[str, set[str]] = {}

    def of(self, record: Record) -> Record:
        """The record with those of its links that hold."""
        if not link_targets([record]):
            return record
        facts = tuple(
            replace(
                fact,
                superseded_by=next(filter(self._holds, filter(None, [fact.superseded_by])), None),
                supersedes=tuple(filter(self._holds, fact.supersedes)),
                contradicts=tuple(filter(self._holds, fact.contradicts)),
            )
            for fact in record.facts
        )
        return replace(record, facts=facts)

    def _holds(self, link: FactLink) -> bool:
        if link.round_id not in self._linked:
            return False
        if link.round_id not in self._texts:
            self._texts[link.round_id] = {f.text for f in self._linked[link.round_id].facts}
        seen = self._until is None or link.said_at.date() <= self._until
        return seen and link.text in self._texts[link.round_id]


def superseded_parts(text: str, facts: Sequence[Fact]) -> list[Fact]:
    """What no longer holds of a sentence that states several things, among the facts of its
    record."""
    return [fact for fact in facts if fact.superseded_by and fact.text in text != fact.text]
