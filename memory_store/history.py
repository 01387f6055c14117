"""The history of a fact: everything that it replaced and that replaced it, oldest first."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory_store.changes.validity import linked_records
from memory_store.engines.engine import Engine
from memory_store.scheduler import in_slices
from memory_store.types import Days, Fact, FactLink, Record


@dataclass(frozen=True, slots=True)
class Told:
    """A record as it stands on a day, and for each of its facts all that was said of the matter.

    Each history holds the fact itself. `until` says by which statement one was replaced; None where
    it holds.
    """

    record: Record
    histories: tuple[tuple["Step", ...], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a history, and the one that replaced it."""

    said: FactLink
    until: FactLink | None


async def told(engine: Engine, record: Record, days: Days) -> Told:
    """The record and the histories of its facts within the days."""
    linked = await linked_records(engine, record.round.user_id, days, {record.id: record})
    standing = linked[record.id]
    every = in_slices(standing.facts)
    return Told(standing, tuple([_history(standing, fact, linked) async for fact in every]))


def _history(record: Record, fact: Fact, linked: Mapping[str, Record]) -> tuple[Step, ...]:
    """Every statement that the links of this one lead to, in the order in which they were said."""
    found: dict[tuple[str, str], Step] = {}
    waiting = [(record, fact)]
    while waiting:
        where, said = waiting.pop()
        place = (where.id, said.text)
        if place in found:
            continue
        newer = said.superseded_by
        found[place] = Step(
            FactLink(where.id, said.text, where.round.session_date, said.source), newer
        )
        links = (*said.supersedes, *((newer,) if newer else ()))
        waiting += [there for link in links if (there := _fact_at(link, linked))]
    return tuple(sorted(found.values(), key=_order))


def _order(step: Step) -> tuple[object, bool, str]:
    """By date; what was replaced comes before what replaced it at the same moment."""
    return step.said.said_at, step.until is None, step.said.text


def _fact_at(link: FactLink, linked: Mapping[str, Record]) -> tuple[Record, Fact] | None:
    record = linked.get(link.round_id)
    facts = [fact for fact in record.facts if fact.text == link.text] if record else []
    return (record, facts[0]) if record and facts else None
