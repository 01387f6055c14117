"""Which fact replaces which: statements of one slot in the order they were said. Pure.

Links follow from the facts alone, whatever order they arrived in: a history filled in later, a
round forgotten or written again gives the links that were due all along. Links that a model chose
are kept; links that rules made are made anew.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_store.types import Fact, FactLink, Record
from memory_store.updates.slots import Stated, replaces, stated

RULE = "rule"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a fact is: its record and its position in it."""

    record: Record
    position: int
    known: Stated

    @property
    def fact(self) -> Fact:
        return self.record.facts[self.position]

    @property
    def order(self) -> tuple[datetime, str, int, int]:
        round = self.record.round
        return round.session_date, round.session_id, round.round_index, self.position

    @property
    def link(self) -> FactLink:
        return FactLink(self.record.id, self.fact.text, self.record.round.session_date, RULE)


_Links = dict[tuple[str, int], FactLink]


def linked(records: Sequence[Record], slots: Iterable[str]) -> list[Record]:
    """The records with the rules' links among all their facts of these slots made anew."""
    wanted = set(slots)
    replaced: _Links = {}
    replacing: defaultdict[tuple[str, int], list[FactLink]] = defaultdict(list)
    for slot in wanted:
        for older, newer in _pairs(sorted(_places(records, slot), key=lambda one: one.order)):
            replaced[older.record.id, older.position] = newer.link
            replacing[newer.record.id, newer.position].append(older.link)
    return [_relinked(record, wanted, replaced, replacing) for record in records]


def _places(records: Sequence[Record], slot: str) -> Iterator[_Place]:
    for record in records:
        for position, fact in enumerate(record.facts):
            if fact.slot == slot and (known := stated(fact.text)) is not None:
                yield _Place(record, position, known)


def _pairs(places: Sequence[_Place]) -> Iterator[tuple[_Place, _Place]]:
    """Older and newer of each replacement, in order."""
    standing: list[_Place] = []
    for newer in places:
        replaced = [older for older in standing if _replaces(newer, older)]
        yield from ((older, newer) for older in replaced)
        standing = [older for older in standing if older not in replaced]
        if newer.known.holds:
            standing.append(newer)


def _replaces(newer: _Place, older: _Place) -> bool:
    if not newer.record.may_supersede or not may_be_one(newer.record, older.record):
        return False
    return replaces(newer.known, older.known)


def may_be_one(first: Record, second: Record) -> bool:
    """Whether the same person may have said both: two who speak by name have a home each."""
    names = {(record.round.user_name or "").strip().casefold() for record in (first, second)}
    return len(names - {""}) < 2


def _relinked(
    record: Record,
    slots: set[str],
    replaced: _Links,
    replacing: Mapping[tuple[str, int], Sequence[FactLink]],
) -> Record:
    facts = tuple(
        _with_links(fact, replaced.get((record.id, i)), replacing.get((record.id, i), ()))
        if fact.slot in slots
        else fact
        for i, fact in enumerate(record.facts)
    )
    return replace(record, facts=facts)


def _with_links(fact: Fact, newer: FactLink | None, older: Sequence[FactLink]) -> Fact:
    by_model = fact.superseded_by if fact.superseded_by and fact.superseded_by.by != RULE else None
    kept = [link for link in fact.supersedes if link.by != RULE]
    return replace(fact, superseded_by=by_model or newer, supersedes=(*kept, *older))


def unlinked(record: Record, gone: Record, staying: Collection[str] = ()) -> Record:
    """The record after `gone` was forgotten, all but its facts with the texts `staying`: what
    replaced a gone fact replaces what that one had replaced."""
    by_text = {fact.text: fact for fact in gone.facts}

    def leads_there(link: FactLink) -> bool:
        return link.round_id == gone.id and link.text not in staying

    facts = tuple(_without(fact, leads_there, by_text) for fact in record.facts)
    return replace(record, facts=facts)


def _without(fact: Fact, leads_there: Callable[[FactLink], bool], gone: Mapping[str, Fact]) -> Fact:
    newer, older = fact.superseded_by, list[FactLink]()
    if newer and leads_there(newer):
        newer = gone[newer.text].superseded_by if newer.text in gone else None
    for link in fact.supersedes:
        if not leads_there(link):
            older.append(link)
        elif link.text in gone:
            older += gone[link.text].supersedes
    return replace(fact, superseded_by=newer, supersedes=tuple(dict.fromkeys(older)))


def same_place(link: FactLink, record: Record) -> bool:
    """Whether the link leads to a fact of this record."""
    return link.round_id == record.id and any(fact.text == link.text for fact in record.facts)
