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
_Links = dict[tuple[str, int], FactLink]
_Several = Mapping[tuple[str, int], Sequence[FactLink]]


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
    def key(self) -> tuple[str, int]:
        return self.record.id, self.position

    @property
    def order(self) -> tuple[datetime, str, int, int]:
        round = self.record.round
        return round.session_date, round.session_id, round.round_index, self.position

    @property
    def link(self) -> FactLink:
        return FactLink(self.record.id, self.fact.text, self.record.round.session_date, RULE)


def linked(records: Sequence[Record], slots: Iterable[str]) -> list[Record]:
    """The records with the rules' links among all their facts of these slots made anew."""
    wanted = set(slots)
    replaced: _Links = {}
    replacing: defaultdict[tuple[str, int], list[FactLink]] = defaultdict(list)
    contradicting: defaultdict[tuple[str, int], list[FactLink]] = defaultdict(list)
    for slot in wanted:
        places = sorted(_places(records, slot), key=lambda one: one.order)
        own = [place for place in places if place.fact.is_users]
        for older, newer in _pairs(own):
            replaced[older.key] = newer.link
            replacing[newer.key].append(older.link)
        holding = [place for place in own if place.known.holds and place.key not in replaced]
        for doubted, held in _conflicts(places, holding):
            contradicting[doubted.key].append(held.link)
    return [_relinked(record, wanted, replaced, replacing, contradicting) for record in records]


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


def _conflicts(
    places: Sequence[_Place], holding: Sequence[_Place]
) -> Iterator[tuple[_Place, _Place]]:
    """Each statement in doubt, with what it would replace of what holds now."""
    for doubted in places:
        if doubted.fact.in_doubt:
            for held in holding:
                if held.order < doubted.order and _replaces(doubted, held):
                    yield doubted, held


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
    replacing: _Several,
    contradicting: _Several,
) -> Record:
    def with_links(place: tuple[str, int], fact: Fact) -> Fact:
        chosen = without_rule_links(fact)
        return replace(
            chosen,
            superseded_by=chosen.superseded_by or replaced.get(place),
            supersedes=(*chosen.supersedes, *replacing.get(place, ())),
            contradicts=(*chosen.contradicts, *contradicting.get(place, ())),
        )

    facts = tuple(
        with_links((record.id, position), fact) if fact.slot in slots else fact
        for position, fact in enumerate(record.facts)
    )
    return replace(record, facts=facts)


def without_rule_links(fact: Fact) -> Fact:
    """The fact with the links that models chose alone."""
    newer = fact.superseded_by
    return replace(
        fact,
        superseded_by=None if newer and newer.by == RULE else newer,
        supersedes=tuple(link for link in fact.supersedes if link.by != RULE),
        contradicts=tuple(link for link in fact.contradicts if link.by != RULE),
    )


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
    return replace(
        fact,
        superseded_by=newer,
        supersedes=tuple(dict.fromkeys(older)),
        contradicts=tuple(link for link in fact.contradicts if not leads_there(link)),
    )


def same_place(link: FactLink, record: Record) -> bool:
    """Whether the link leads to a fact of this record."""
    return link.round_id == record.id and any(fact.text == link.text for fact in record.facts)
