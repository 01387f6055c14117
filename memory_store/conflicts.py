"""What contradicts the user's own statements and may be another's: it waits for the user's word."""

from collections.abc import Collection
from dataclasses import dataclass

from memory_store.changes.validity import linked_records
from memory_store.engines.batched_reads import records_in
from memory_store.engines.engine import Engine, Scope
from memory_store.scheduler import aside, in_slices
from memory_store.types import Days, Fact, FactLink, Record

# Of how many characters reading takes as long as placing a conflict.
_CONFLICT = 10


@dataclass(frozen=True, slots=True)
class Conflict:
    """A fact in doubt with its record, and the statements that hold which it would replace."""

    record: Record
    fact: Fact
    held: tuple[FactLink, ...]


async def conflicts(engine: Engine, user_id: str) -> list[Conflict]:
    """Every conflict of a user, the newest first."""
    records = await records_in(engine, Scope(user_id, in_conflict=True))
    found = {record.id: record for record in records}
    linked = await linked_records(engine, user_id, Days(), found)
    standing = {
        (id, fact.text)
        async for id, record in in_slices(linked.items())
        for fact in record.facts
        if fact.is_users and fact.superseded_by is None
    }
    every = [
        Conflict(linked[id], fact, held)
        async for id in in_slices(found)
        for fact in linked[id].facts
        if (held := _holding(fact, standing))
    ]
    return await aside(_CONFLICT * len(every), sorted, every, key=_order, reverse=True)


def _holding(fact: Fact, standing: Collection[tuple[str, str]]) -> tuple[FactLink, ...]:
    """What the fact contradicts of what holds, whoever found that it does."""
    by_place = {(link.round_id, link.text): link for link in fact.contradicts}
    return tuple(link for place, link in by_place.items() if place in standing)


def _order(conflict: Conflict) -> tuple[object, str, int]:
    round = conflict.record.round
    return round.session_date, round.session_id, round.round_index
