"""The links between facts, whoever found them: which hold, and what becomes of them.

All functions are pure. A link names a fact by its round and its text. Links that rules find follow
from the facts alone, in whatever order these arrive: when a history is filled in later, or a round
is forgotten or written again, the result is the same. Links that a model or the user chose are
kept, and are recorded on both sides.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from memory_store._types import Fact, FactLink, Record, Speaker
from memory_store.language import ENGLISH, Language, Stated, replaces

RULE = "rule"
HELD_BACK = "something that is held back"
"""Stands for the finder and for the text of a link whose other side a reader may not see."""
_FactName = tuple[str, str]
"""The id of a round, and the text of one of its facts."""


def link_targets(records: Iterable[Record]) -> set[str]:
    """Ids of the rounds that the facts of the records are linked to."""
    return {
        link.round_id
        for record in records
        for fact in record.facts
        for link in (*fact.supersedes, *fact.contradicts, *filter(None, (fact.superseded_by,)))
        if link.by != HELD_BACK
    }


def speaker_of(record: Record) -> str:
    """The name that the user speaks by, folded for comparison; empty without one."""
    return (record.round.user_name or "").strip().casefold()


def all_slots(records: Iterable[Record], slots: Collection[str]) -> set[str]:
    """These slots, and all other slots of the facts that have one of them."""
    wanted = set(slots)
    return wanted | {
        slot
        for record in records
        for fact in record.facts
        if not wanted.isdisjoint(fact.slots)
        for slot in fact.slots
    }


def may_be_one(first: Record, second: Record) -> bool:
    """Whether the same person may have said both. Two people with different names each have, say,
    a home of their own, so that neither statement replaces the other."""
    return len({speaker_of(first), speaker_of(second)} - {""}) < 2


def without_rule_links(fact: Fact) -> Fact:
    """The fact without the links that rules found."""
    newer = fact.superseded_by
    return replace(
        fact,
        superseded_by=None if newer and newer.by == RULE else newer,
        supersedes=tuple(link for link in fact.supersedes if link.by != RULE),
        contradicts=tuple(link for link in fact.contradicts if link.by != RULE),
    )


class Unlinking:
    """Mends chains of links when facts are forgotten: the fact that replaced a forgotten one now
    replaces what the forgotten one had replaced."""

    def __init__(self, gone: Iterable[Record], staying: Collection[str] = ()) -> None:
        """All facts of these records are forgotten, except those with the texts `staying`."""
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
        """The links to facts that stay; a link to a forgotten fact is followed further."""
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


class Settling:
    """Records links that a model chose on both sides. A link is dropped if its fact is not there,
    is not the user's, or belongs to another person who speaks by name."""

    def __init__(self, others: Mapping[str, Record]) -> None:
        self._others = others
        self._users = {id: _texts_of_user(record) for id, record in others.items()}
        self._standing = {id: _holding(record) for id, record in others.items()}
        self._newer: dict[_FactName, FactLink] = {}
        self._older: defaultdict[_FactName, dict[FactLink, None]] = defaultdict(dict)

    def of(self, record: Record) -> Record:
        """The record with the links that hold."""
        facts = tuple(self._settled(record, fact) for fact in record.facts)
        settled = replace(record, facts=facts)
        holding = _holding(settled)
        kept = tuple(
            replace(
                fact,
                contradicts=tuple(
                    link for link in fact.contradicts if self._holds(link, record, holding)
                ),
            )
            for fact in facts
        )
        return replace(record, facts=kept)

    def changed(self) -> list[Record]:
        """The other records that get new links, with these links."""
        ids = {id for id, _ in (*self._newer, *self._older)}
        marked = [self._marked(record) for id, record in self._others.items() if id in ids]
        return [record for record in marked if record != self._others[record.id]]

    def _settled(self, record: Record, fact: Fact) -> Fact:
        round = record.round
        kept: list[FactLink] = []
        newer: FactLink | None = None
        for link in fact.supersedes:
            other = self._others.get(link.round_id)
            if other is None or not self._is_said(other, link):
                continue
            if not may_be_one(record, other):
                continue
            ours = FactLink(record.id, fact.text, round.session_date, link.by)
            if _said(other) <= (round.session_date, round.round_index):
                kept.append(link)
                self._newer[other.id, link.text] = ours
            else:
                newer = link
                self._older[other.id, link.text][ours] = None
        superseded_by = fact.superseded_by or newer
        return replace(fact, supersedes=tuple(kept), superseded_by=superseded_by)

    def _is_said(self, other: Record, link: FactLink) -> bool:
        """Whether the link's text is what the user said: a whole fact, or a part of one."""
        return any(link.text in text for text in self._users[other.id])

    def _holds(self, link: FactLink, record: Record, own: Collection[str]) -> bool:
        """Whether the link leads to a statement of the same user that still holds."""
        if link.round_id == record.id:
            return link.text in own
        other = self._others.get(link.round_id)
        return (
            other is not None
            and may_be_one(record, other)
            and link.text in self._standing[other.id]
            and (other.id, link.text) not in self._newer
        )

    def _marked(self, record: Record) -> Record:
        def mark(fact: Fact) -> Fact:
            place = record.id, fact.text
            newer = self._newer.get(place, fact.superseded_by)
            older = dict.fromkeys(fact.supersedes) | self._older.get(place, {})
            return replace(fact, superseded_by=newer, supersedes=tuple(older))

        facts = [*record.facts, *self._parts_gone(record)]
        return replace(record, facts=tuple(map(mark, facts)))

    def _parts_gone(self, record: Record) -> list[Fact]:
        """New facts for the parts of the record's facts that are replaced while the rest holds."""
        texts = {fact.text for fact in record.facts}
        return [
            Fact(text, source=newer.by)
            for (id, text), newer in self._newer.items()
            if id == record.id and text not in texts
        ]


def _texts_of_user(record: Record) -> set[str]:
    """The texts of the user's facts, doubtful ones too, as a sure statement replaces those as well;
    the user's message if there are none."""
    told = {fact.text for fact in record.facts if fact.speaker is Speaker.USER}
    return told or {record.round.user_text}


def _holding(record: Record) -> set[str]:
    return {fact.text for fact in record.facts if fact.is_users and not fact.superseded_by}


def _said(record: Record) -> tuple[object, int]:
    return record.round.session_date, record.round.round_index


# A statement in doubt is linked to at most this many of the latest that hold. Without the limit,
# ten thousand in doubt and ten thousand that hold would have a hundred million links.
_MOST_CONTRADICTED = 16
_Links = dict[tuple[str, int], FactLink]
_Several = Mapping[tuple[str, int], Sequence[FactLink]]


@dataclass(frozen=True, slots=True)
class _Valued:
    """A fact that gives a value for a slot: its record, its position in it, and what it states.

    A fact whose condition is bound to the slot (`is_bound`) counts as one that states the value of
    its condition: a statement that would replace this value ends the fact.
    """

    record: Record
    position: int
    known: Stated
    is_bound: bool = False

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
    replaced: dict[tuple[str, int], tuple[_Valued, _Valued]] = {}
    contradicting: defaultdict[tuple[str, int], list[FactLink]] = defaultdict(list)
    for places in _by_slot(records, wanted, language):
        places.sort(key=lambda one: one.order)
        own = [place for place in places if place.fact.is_users]
        for older, newer in _pairs(own):
            first = replaced.get(older.key)
            # A fact may be bound to one slot and give a value for another: the change that comes
            # first ends it.
            if first is None or newer.order < first[1].order:
                replaced[older.key] = older, newer
        valued = [place for place in places if not place.is_bound]
        holding = [one for one in valued if one.fact.is_users and one.known.holds]
        standing = [one for one in holding if one.key not in replaced]
        for doubted, held in _conflicts(valued, standing):
            contradicting[doubted.key].append(held.link)
    replacing: defaultdict[tuple[str, int], list[FactLink]] = defaultdict(list)
    for older, newer in sorted(replaced.values(), key=lambda pair: (pair[1].order, pair[0].order)):
        replacing[newer.key].append(older.link)
    links = {key: newer.link for key, (_, newer) in replaced.items()}
    return [_relinked(record, wanted, links, replacing, contradicting) for record in records]


def _by_slot(
    records: Sequence[Record], wanted: Collection[str], language: Language
) -> Iterable[list[_Valued]]:
    """The facts that give a value for one of these slots, or are bound to it, slot by slot."""
    found: defaultdict[str, list[_Valued]] = defaultdict(list)
    for record in records:
        for position, fact in enumerate(record.facts):
            slot, bound = fact.slot, fact.condition
            if slot in wanted and slot and (known := language.stated(fact.text)) is not None:
                found[slot].append(_Valued(record, position, known))
            if bound and bound.slot and bound.slot in wanted and bound.slot != slot:
                known = Stated(bound.slot, bound.value, replaces=False)
                found[bound.slot].append(_Valued(record, position, known, is_bound=True))
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
    """Pairs of a statement in doubt and a statement that holds, said before, which it would
    replace. Of several that say the same, only the latest is paired."""
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
    """The statements of a slot that hold, by speaker and by value, so that a newer statement need
    only look at those that it replaces."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, list[_Valued]]] = {}

    def add(self, place: _Valued) -> None:
        values = self._said.setdefault(speaker_of(place.record), {})
        values.setdefault(place.known.value, []).append(place)

    def taken_out_by(self, newer: _Valued) -> list[_Valued]:
        """Take out and return, in order, the facts that a newer statement replaces."""
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
        with_links((record.id, position), fact) if slots & {*fact.slots} else fact
        for position, fact in enumerate(record.facts)
    )
    return replace(record, facts=facts)
