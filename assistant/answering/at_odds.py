"""Recalled statements that are at odds: what the user later denies, and amounts that were changed.

The store links statements where a frame of words is sure. Here the statements in the rounds of one
question are compared by meaning: "I've never used a pottery wheel" contradicts "made a bowl on the
wheel", and "the rent is now 890" has replaced "the rent is 820". Stored facts are not changed.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_store import FactLink, MemoryReader, Recall, Recalled, Record, Speaker, is_quoting
from memory_store.language import shared_words, terms, wording

# How many of the best rounds are read, and how many older statements a later one is compared with.
_ROUNDS, _COMPARED = 30, 12
# At most this many denials are compared, and this many changed amounts.
_MOST = 4
# The least closeness of a denial to what it denies, and of two statements that give an amount.
_DENIED, _CHANGED = 0.62, 0.8
_LONGEST = 400
_AMOUNT = re.compile(
    r"(?P<money>[$€£]\s?\d[\d.,]*\d|[$€£]\d)"
    r"|\b(?P<time>\d{1,2}(?::\d\d)? ?[ap]m)\b"
    r"|(?<![\d.,:/$€£-])\b(?P<number>\d[\d,]*) (?P<of>[a-z]{3,})",
    re.I,
)


@dataclass(frozen=True, slots=True)
class AtOdds:
    """A statement, and the later one that denies it or gives another amount."""

    text: str
    by: FactLink
    is_denied: bool


@dataclass(frozen=True, slots=True)
class _Said:
    record: Record
    text: str

    @property
    def place(self) -> tuple[datetime, int]:
        round = self.record.round
        return round.session_date, round.round_index

    @property
    def denies(self) -> re.Match[str] | None:
        return wording("answers.denies").search(self.text)


async def at_odds(store: MemoryReader, recalled: Sequence[Recalled]) -> Mapping[str, list[AtOdds]]:
    """Return the statements at odds among the best rounds, by the id of the older one's round.

    Raises what the store raises.
    """
    if not store.language.has_rules:
        return {}
    said = list(_statements([one.record for one in recalled[:_ROUNDS]]))
    found: dict[str, list[AtOdds]] = {}
    compared = [(one, True) for one in _denials(said)] + [(one, False) for one in _changes(said)]
    for (later, text, older), is_denied in compared:
        near = sorted(older, key=lambda one: shared_words(text, one.text), reverse=True)[:_COMPARED]
        closeness = await store.closeness(text, [one.text for one in near])
        nearest = max(range(len(near)), key=lambda place: closeness[place])
        if closeness[nearest] >= (_DENIED if is_denied else _CHANGED):
            round = later.record.round
            link = FactLink(later.record.id, later.text, round.session_date)
            pair = AtOdds(near[nearest].text, link, is_denied)
            found.setdefault(near[nearest].record.id, []).append(pair)
    return found


async def without_odds(store: MemoryReader, recall: Recall) -> Recall:
    """The recall without both sides of every denial, and without the older of two amounts."""
    found = await at_odds(store, recall.rounds)
    gone = {(id, pair.text) for id, pairs in found.items() for pair in pairs}
    # The newer amount holds; of a statement and its denial, nobody knows which one holds.
    denying = [pair.by for pairs in found.values() for pair in pairs if pair.is_denied]
    gone |= {(by.round_id, by.text) for by in denying}
    if not gone:
        return recall
    rounds = [
        _without(one, {text for id, text in gone if id == one.record.id}) for one in recall.rounds
    ]
    left = {**recall.left_out, "at_odds": len(gone)}
    return replace(recall, rounds=tuple(one for one in rounds if one.record.facts), left_out=left)


def _without(one: Recalled, texts: Collection[str]) -> Recalled:
    if not texts:
        return one
    facts = tuple(fact for fact in one.record.facts if fact.text not in texts)
    said = "\n".join(fact.text for fact in facts)
    round = replace(one.record.round, user_text=said, reading=None)
    return replace(one, record=replace(one.record, round=round, facts=facts))


def _statements(records: Sequence[Record]) -> Iterator[_Said]:
    for record in records:
        if record.facts and not is_quoting(record):
            # A casual message is often classed as quoted as a whole: it is then read as the user's.
            # Beside facts that are surely the user's own, quoted facts are another's.
            speakers = {fact.speaker for fact in record.facts}
            who = Speaker.USER if Speaker.USER in speakers else Speaker.QUOTED
            holding = (f.text for f in record.facts if f.speaker is who and not f.superseded_by)
            yield from (_Said(record, text) for text in holding if len(text) <= _LONGEST)


_Compared = tuple[_Said, str, list[_Said]]
"""A later statement, the part of it that is compared, and the older ones it is compared with."""


def _denials(said: Sequence[_Said]) -> list[_Compared]:
    done = [one for one in said if _is_done(one)]
    found: list[_Compared] = []
    for later in said:
        if (denies := later.denies) is None:
            continue
        denied = wording("answers.denied_until").split(later.text[denies.start() :], maxsplit=1)[0]
        claim = wording("answers.denial").sub("", denied)
        older = [one for one in _before(later, done) if shared_words(claim, one.text)]
        if older:
            found.append((later, claim, older))
    return found[:_MOST]


def _is_done(one: _Said) -> bool:
    return not one.denies and wording("answers.has_done").search(one.text) is not None


def _changes(said: Sequence[_Said]) -> list[_Compared]:
    amounts = {one: _amounts(one.text) for one in said}
    found: list[_Compared] = []
    for later in said:
        if not amounts[later] or not wording("answers.newer").search(later.text):
            continue
        older = [one for one in _before(later, said) if _is_another(amounts[one], amounts[later])]
        if older:
            found.append((later, later.text, older))
    return found[:_MOST]


def _before(later: _Said, some: Sequence[_Said]) -> list[_Said]:
    """The statements that the same speaker made before, in another round."""
    name = later.record.round.user_name
    return [one for one in some if one.place < later.place and one.record.round.user_name == name]


def _amounts(text: str) -> Mapping[str, set[str]]:
    """The amounts in a statement, by the thing counted, or under `money` or `time`."""
    found: dict[str, set[str]] = {}
    for match in _AMOUNT.finditer(text):
        of = str(match.lastgroup)
        if match["of"]:
            counted = terms(match["of"])  # a stop word such as "and" has no terms
            if not counted:
                continue
            of = str(counted[0])
        value = match["money"] or match["time"] or match["number"]
        found.setdefault(of, set()).add(value.replace(" ", "").lower())
    return found


def _is_another(older: Mapping[str, set[str]], later: Mapping[str, set[str]]) -> bool:
    return any(of in later and older[of].isdisjoint(later[of]) for of in older)
