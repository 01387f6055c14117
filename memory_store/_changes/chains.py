"""Which fact replaces which: statements of one slot in the order they were said.

Links follow from the facts alone, whatever order they arrived in: a history filled in later, a
round forgotten or written again gives the links that were due all along. Links that a model chose
are kept; links that rules made are made anew.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from memory_store._changes.links import RULE, may_be_one, speaker_of, without_rule_links
from memory_store._types import Fact, FactLink, Record
from memory_store.language import ENGLISH, Language, Stated, replaces

# A statement in doubt contradicts so many of the latest that hold: with all of ten thousand, ten
# thousand in doubt would have a hundred million links.
_MOST_CONTRADICTED = 16
_Links = dict[tuple[str, int], FactLink]
_Several = Mapping[tuple[str, int], Sequence[FactLink]]


@dataclass(frozen=True, slots=True)
class _Valued:
    """A fact that gives a value for a slot: its record, its position in it, and what it states."""

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
        return *self.record.round.place, self.position

    @property
    def link(self) -> FactLink:
        return FactLink(self.record.id, self.fact.text, self.record.round.session_date, RULE)


def linked(
    records: Sequence[Record], slots: Iterable[str], language: Language = ENGLISH
) -> list[Record]:
    """The records with the rules' links among all their facts of these slots made anew."""
    wanted = set(slots)
    replaced: _Links = {}
    replacing: defaultdict[tuple[str, int], list[FactLink]] = defaultdict(list)
    contradicting: defaultdict[tuple[str, int], list[FactLink]] = defaultdict(list)
    for places in _by_slot(records, wanted, language):
        places.sort(key=lambda one: one.order)
        own = [place for place in places if place.fact.is_users]
        for older, newer in _pairs(own):
            replaced[older.key] = newer.link
            replacing[newer.key].append(older.link)
        holding = [place for place in own if place.known.holds and place.key not in replaced]
        for doubted, held in _conflicts(places, holding):
            contradicting[doubted.key].append(held.link)
    return [_relinked(record, wanted, replaced, replacing, contradicting) for record in records]


def _by_slot(
    records: Sequence[Record], wanted: Collection[str], language: Language
) -> Iterable[list[_Valued]]:
    """The facts that give a value for one of these slots, slot by slot."""
    found: defaultdict[str, list[_Valued]] = defaultdict(list)
    for record in records:
        for position, fact in enumerate(record.facts):
            slot = fact.slot
            if slot in wanted and slot and (known := language.stated(fact.text)) is not None:
                found[slot].append(_Valued(record, position, known))
    return found.values()


def _pairs(places: Sequence[_Valued]) -> Iterator[tuple[_Valued, _Valued]]:
    """Older and newer of each replacement of one slot, in order."""
    standing = _Standing()
    for newer in places:
        if newer.known.replaces and newer.record.may_supersede:
            yield from ((older, newer) for older in standing.taken_out_by(newer))
        if newer.known.holds:
            standing.add(newer)


def _conflicts(
    places: Sequence[_Valued], holding: Sequence[_Valued]
) -> Iterator[tuple[_Valued, _Valued]]:
    """Each statement in doubt with the one that holds and that it would replace; of statements
    that say the same the latest before it."""
    holds = {place.key for place in holding}
    latest: OrderedDict[tuple[str, str], _Valued] = OrderedDict()
    for place in places:
        if place.fact.in_doubt and place.record.may_supersede:
            newest = [*islice(reversed(latest.values()), _MOST_CONTRADICTED)]
            for held in reversed(newest):
                if _replaces(place, held):
                    yield place, held
        elif place.key in holds:
            said = speaker_of(place.record), place.known.value
            latest[said] = place
            latest.move_to_end(said)


def _replaces(newer: _Valued, older: _Valued) -> bool:
    return may_be_one(newer.record, older.record) and replaces(newer.known, older.known)


class _Standing:
    """The statements of a slot that hold, by who speaks and by their value: a newer one looks at
    those alone that it replaces."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, list[_Valued]]] = {}

    def add(self, place: _Valued) -> None:
        values = self._said.setdefault(speaker_of(place.record), {})
        values.setdefault(place.known.value, []).append(place)

    def taken_out_by(self, newer: _Valued) -> list[_Valued]:
        """Facts that a newer statement replaces, in order; they hold no longer."""
        name, known = speaker_of(newer.record), newer.known
        found: list[_Valued] = []
        for other in {name, ""} if name else set(self._said):
            values = self._said.get(other, {})
            if not known.holds:
                found += values.pop(known.value, [])
            elif values:
                same = values.pop(known.value, [])
                found += (place for places in values.values() for place in places)
                self._said[other] = {known.value: same} if same else {}
        return sorted(found, key=lambda one: one.order)


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
