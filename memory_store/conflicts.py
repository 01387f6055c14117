"""What contradicts the user's own statements and may be another's: it waits for the user's word."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory_store.engines.engine import Engine, Scope
from memory_store.engines.parts import records_in
from memory_store.recall.updates import linked_records
from memory_store.types import Days, Fact, FactLink, Record


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
    every = [
        Conflict(linked[id], fact, held)
        for id in found
        for fact in linked[id].facts
        if (held := tuple(dict.fromkeys(_holding(fact, linked))))
    ]
    return sorted(every, key=_order, reverse=True)


def _holding(fact: Fact, linked: Mapping[str, Record]) -> list[FactLink]:
    """What the fact contradicts of what holds, whoever found that it does."""
    by_place = {(link.round_id, link.text): link for link in fact.contradicts}
    return [link for link in by_place.values() if _holds(link, linked[link.round_id])]


def _holds(link: FactLink, record: Record) -> bool:
    told = [fact for fact in record.facts if fact.text == link.text]
    return any(fact.is_users and fact.superseded_by is None for fact in told)


def _order(conflict: Conflict) -> tuple[object, str, int]:
    round = conflict.record.round
    return round.session_date, round.session_id, round.round_index
