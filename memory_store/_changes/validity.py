"""Which recorded updates hold, seen from a day; the history of a fact; and conflicts.

Links that lead nowhere, or to something said after that day, are left out. A statement that
contradicts the user's own, and that may be somebody else's, is a conflict until the user decides.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from operator import attrgetter

from memory_store._changes.links import HELD_BACK, link_targets
from memory_store._points import records_in
from memory_store._types import CONDITION, Days, Fact, FactLink, Record
from memory_store.engines._engine import ReadableEngine, UserScope
from memory_store.scheduler import aside, in_slices

HOPS = 8
"""A chain of replacements longer than this is followed no further."""
# Sorting one conflict into its place takes as long as reading this many characters.
_CONFLICT = 10


Reading = Callable[[Sequence[str]], Awaitable[Mapping[str, Record]]]
"""A function that reads records of one user by id."""


def read_from(engine: ReadableEngine, user_id: str) -> Reading:
    """Return a function that reads the user's records from the engine."""

    async def read(ids: Sequence[str]) -> Mapping[str, Record]:
        found = await records_in(engine, UserScope(user_id, ids=tuple(ids)))
        return {record.id: record for record in found}

    return read


class LinksOnADay:
    """Leaves in records the links that hold by the last of some days; their first does not matter.

    `linked` are the records that links lead to, by id. A link to a round that was forgotten, or
    whose text has changed, is dropped.
    """

    def __init__(self, linked: Mapping[str, Record], days: Days) -> None:
        self._linked = linked
        self._until = Days(last=days.last, zone=days.zone)
        self._texts: dict[str, set[str]] = {}

    def of(self, record: Record) -> Record:
        """The record with those of its links that hold."""
        if not any(map(_is_linked, record.facts)):
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
        seen = self._until.hold(link.said_at)
        if link.by == HELD_BACK:
            return seen
        if link.round_id not in self._linked:
            return False
        if link.round_id not in self._texts:
            self._texts[link.round_id] = {f.text for f in self._linked[link.round_id].facts}
        return seen and link.text in self._texts[link.round_id]


def _is_linked(fact: Fact) -> bool:
    return bool(fact.superseded_by or fact.supersedes or fact.contradicts)


def standing_on(record: Record, day: date | None) -> Record:
    """The record as it stands on a day. A fact whose condition ended on an earlier day is linked
    to itself, as the statement that says that it no longer holds."""
    if day is None or not any(fact.condition for fact in record.facts):
        return record
    return replace(record, facts=tuple(_ended(record, fact, day) for fact in record.facts))


def _ended(record: Record, fact: Fact, day: date) -> Fact:
    last = fact.condition.until if fact.condition else None
    if fact.superseded_by or last is None or last >= day:
        return fact
    at = datetime.combine(last, time(), UTC)
    return replace(fact, superseded_by=FactLink(record.id, fact.text, at, CONDITION))


async def linked_records(
    read: Reading, days: Days, records: Mapping[str, Record], today: date | None = None
) -> dict[str, Record]:
    """The records by id, with those that their links lead to, and so on for `HOPS` steps. They keep
    only links that hold within the days. Conditions are judged on the last of these days or today,
    whichever is earlier."""
    known = dict(records)
    new: Sequence[Record] = list(records.values())
    for _ in range(HOPS):
        wanted = {id async for one in in_slices(new) for id in link_targets([one])} - set(known)
        if not wanted:
            break
        new = [one for one in (await read([*wanted])).values() if one.round.was_said_on(days)]
        known |= {record.id: record for record in new}
    standing = LinksOnADay(known, days)
    seen_on = min((day for day in (days.last, today) if day), default=None)
    return {
        id: standing_on(standing.of(record), seen_on)
        async for id, record in in_slices(known.items())
    }


def superseded_parts(text: str, facts: Sequence[Fact]) -> list[Fact]:
    """The facts of a record that no longer hold and are a part of this sentence, which states
    several things."""
    return [fact for fact in facts if fact.superseded_by and fact.text in text != fact.text]


@dataclass(frozen=True, slots=True)
class Told:
    """A record as it stands on a day, and for each of its facts the history of the matter.

    Each history includes the fact itself.
    """

    record: Record
    histories: tuple[tuple["Step", ...], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a history, and the one that replaced it; `until` is None while it holds."""

    said: FactLink
    until: FactLink | None


async def told(
    engine: ReadableEngine, record: Record, days: Days, today: date | None = None
) -> Told:
    """The record and the histories of its facts within the days."""
    linked = await linked_records(
        read_from(engine, record.round.user_id), days, {record.id: record}, today
    )
    standing = linked[record.id]
    every = in_slices(standing.facts)
    return Told(standing, tuple([_history(standing, fact, linked) async for fact in every]))


def _history(record: Record, fact: Fact, linked: Mapping[str, Record]) -> tuple[Step, ...]:
    """The fact and every statement that its links lead to, in the order in which they were said."""
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
    return tuple(sorted(found.values(), key=_step_order))


def _step_order(step: Step) -> tuple[object, bool, str]:
    """Order by date; a replaced fact comes before the one that replaced it at the same moment."""
    return step.said.said_at, step.until is None, step.said.text


def _fact_at(link: FactLink, linked: Mapping[str, Record]) -> tuple[Record, Fact] | None:
    record = linked.get(link.round_id)
    facts = [fact for fact in record.facts if fact.text == link.text] if record else []
    return (record, facts[0]) if record and facts else None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A fact in doubt, its record, and the statements that hold and that it would replace."""

    record: Record
    fact: Fact
    held: tuple[FactLink, ...]


async def conflicts(engine: ReadableEngine, user_id: str) -> list[Conflict]:
    """Every conflict of a user, the newest first."""
    records = await records_in(engine, UserScope(user_id, in_conflict=True))
    found = {record.id: record for record in records}
    linked = await linked_records(read_from(engine, user_id), Days(), found)
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
    return await aside(
        _CONFLICT * len(every), sorted, every, key=attrgetter("record.round.place"), reverse=True
    )


def _holding(fact: Fact, standing: Collection[tuple[str, str]]) -> tuple[FactLink, ...]:
    """The links to the standing facts that this one contradicts, each once."""
    by_place = {(link.round_id, link.text): link for link in fact.contradicts}
    return tuple(link for place, link in by_place.items() if place in standing)
