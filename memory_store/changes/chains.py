"""Which fact replaces which: statements of one slot in the order they were said.

Links follow from the facts alone, whatever order they arrived in: a history filled in later, a
round forgotten or written again gives the links that were due all along. Links that a model chose
are kept; links that rules made are made anew.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from memory_store.language import ENGLISH, Language, Stated, replaces
from memory_store.types import Fact, FactLink, Record

RULE = "rule"
# A statement in doubt contradicts so many of the latest that hold: with all of ten thousand, ten
# thousand in doubt would have a hundred million links.
_MOST_CONTRADICTED = 16
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
) -> Iterable[list[_Place]]:
    """The facts that give a value for one of these slots, slot by slot."""
    found: defaultdict[str, list[_Place]] = defaultdict(list)
    for record in records:
        for position, fact in enumerate(record.facts):
            slot = fact.slot
            if slot in wanted and slot and (known := language.stated(fact.text)) is not None:
                found[slot].append(_Place(record, position, known))
    return found.values()


def _pairs(places: Sequence[_Place]) -> Iterator[tuple[_Place, _Place]]:
    """Older and newer of each replacement of one slot, in order."""
    standing = _Standing()
    for newer in places:
        if newer.known.replaces and newer.record.may_supersede:
            yield from ((older, newer) for older in standing.taken_out_by(newer))
        if newer.known.holds:
            standing.add(newer)


def _conflicts(
    places: Sequence[_Place], holding: Sequence[_Place]
) -> Iterator[tuple[_Place, _Place]]:
    """Each statement in doubt, with what it would replace of what holds now; of statements that
    say the same with the latest before it."""
    holds = {place.key for place in holding}
    latest: OrderedDict[tuple[str, str], _Place] = OrderedDict()
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


def _replaces(newer: _Place, older: _Place) -> bool:
    return may_be_one(newer.record, older.record) and replaces(newer.known, older.known)


class _Standing:
    """The statements of a slot that hold, by who speaks and by their value: a newer one looks at
    those alone that it replaces."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, list[_Place]]] = {}

    def add(self, place: _Place) -> None:
        values = self._said.setdefault(speaker_of(place.record), {})
        values.setdefault(place.known.value, []).append(place)

    def taken_out_by(self, newer: _Place) -> list[_Place]:
        """Those that a newer statement replaces, in order; they hold no longer."""
        name, known = speaker_of(newer.record), newer.known
        found: list[_Place] = []
        for other in {name, ""} if name else set(self._said):
            values = self._said.get(other, {})
            if not known.holds:
                found += values.pop(known.value, [])
            elif values:
                same = values.pop(known.value, [])
                found += (place for places in values.values() for place in places)
                self._said[other] = {known.value: same} if same else {}
        return sorted(found, key=lambda one: one.order)


def speaker_of(record: Record) -> str:
    """The name that the user speaks by, as names are compared; empty without one."""
    return (record.round.user_name or "").strip().casefold()


def may_be_one(first: Record, second: Record) -> bool:
    """Whether the same person may have said both: two who speak by name have a home each."""
    return len({speaker_of(first), speaker_of(second)} - {""}) < 2


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


class Unlinking:
    """Links handed on past facts that are forgotten: what replaced a gone fact replaces what that
    one had replaced."""

    def __init__(self, gone: Iterable[Record], staying: Collection[str] = ()) -> None:
        """All facts of these records go but those with the texts `staying`."""
        self._staying = staying
        self._gone = {record.id: {fact.text: fact for fact in record.facts} for record in gone}

    def of(self, record: Record) -> Record:
        """The record without links to what is gone."""
        return replace(record, facts=tuple(map(self._unlinked, record.facts)))

    def _unlinked(self, fact: Fact) -> Fact:
        newer = [fact.superseded_by] if fact.superseded_by else []
        newer = self._followed(newer, lambda gone: filter(None, [gone.superseded_by]))
        older = self._followed(fact.supersedes, lambda gone: gone.supersedes)
        return replace(
            fact,
            superseded_by=newer[0] if newer else None,
            supersedes=tuple(older),
            contradicts=tuple(link for link in fact.contradicts if not self._leads_to_gone(link)),
        )

    def _followed(
        self, links: Iterable[FactLink], further: Callable[[Fact], Iterable[FactLink]]
    ) -> list[FactLink]:
        """The links that lead to what stays, of which some are found past what is gone."""
        kept: dict[FactLink, None] = {}
        seen: set[FactLink] = set()
        waiting = deque(links)
        while waiting:
            link = waiting.popleft()
            if link in seen:
                continue
            seen.add(link)
            if not self._leads_to_gone(link):
                kept[link] = None
            elif fact := self._gone[link.round_id].get(link.text):
                waiting.extendleft(reversed([*further(fact)]))
        return list(kept)

    def _leads_to_gone(self, link: FactLink) -> bool:
        return link.round_id in self._gone and link.text not in self._staying
