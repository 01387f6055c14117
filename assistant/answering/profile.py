"""What is known of the user: all that they told and that still holds, in groups, the newest first.

No question is like all that somebody told, so nothing is searched for here: the rounds are gone
through as they were told. What was replaced or put right is left out, and what was told twice is
shown once. Of each group only some things are shown, so that the answer stays short however much
was told; its numbers say how much there is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from assistant.answering.layouts import plural
from assistant.answering.passages import passages
from assistant.answering.selection import as_typed, put_right
from assistant.answering.statements import (
    Statement,
    name_of,
    said_in,
    several_speak,
    superseded_among_others,
    told_in_order,
)
from assistant.answering.wording import quote_line
from memory_store import (
    Days,
    Fact,
    FactLink,
    Listing,
    MemoryReader,
    Place,
    Recalled,
    Record,
    Speaker,
    Where,
    is_anothers,
    reading_of,
)
from memory_store.language import TOPICS, Asked, Kind, Sentence
from memory_store.scheduler import aside, in_slices

# The newest rounds that are gone through, and how many at a time.
_MOST_ROUNDS, _AT_ONCE = 2000, 1000
_SHOWN = 3
_TELLS = 0.5
# A statement that is less near than this to every topic belongs to none: half of such statements,
# as people type them, are nearest to a wrong topic.
_NEAR_A_TOPIC = 0.28
# Groups beside the topics. The reading tells what is an instruction, not nearness: short statements
# of any kind are near to sentences about wording.
_PINNED, _INSTRUCTIONS, _OTHERS = "Pinned", "How to answer you", "Other things"
_MOST_PINNED = 16
# For `aside`: this many characters are split while rules read one.
_READ_FAST = 16


class UserProfile(NamedTuple):
    """The text about the user, and the statements that it quotes, in its order."""

    text: str
    quotes: Sequence[Statement]


class Thing(NamedTuple):
    """One thing that holds, and what it put right: alone, "Sorry, 17:40." says nothing."""

    quote: Statement
    put_right: str = ""

    @property
    def text(self) -> str:
        """All that it says, to tell its topic by."""
        return f"{self.put_right} {self.quote.quotable}".strip()

    @property
    def line(self) -> str:
        """The line that is shown."""
        before = f" (before: “{self.put_right}”)" if self.put_right else ""
        return f"{quote_line(self.quote, Asked())}{before}"


async def profile(
    store: MemoryReader, user_id: str, days: Days, where: Where = ()
) -> UserProfile | None:
    """What the user told on these days in rounds with these labels, as it stood on the last of the
    days; None where nothing is known."""
    records = await _records(store, user_id, days, where)
    size = sum(len(record.round.user_text) for record in records)
    found = [
        Recalled(record, 0.0)
        for record in await aside(size // _READ_FAST, _newest_of_slots, records)
    ]
    told = [s async for one in in_slices(found) for s in _told(one, store)]
    if several_speak(found):
        told = [s._replace(said_by=name_of(s.source, s.speaker)) for s in told]
    things = await aside(size, _things, told, store)
    if not things:
        return None
    groups = await _grouped(store, things)
    shown = [thing.quote for topic, group in groups.items() for thing in _shown(topic, group)]
    return UserProfile(_printed(groups, len(things)), shown)


async def _records(store: MemoryReader, user_id: str, days: Days, where: Where) -> list[Record]:
    """The user's rounds, the newest first."""
    found: list[Record] = []
    after: Place | None = None
    while len(found) < _MOST_ROUNDS:
        page = await store.listed(
            Listing(
                user_id,
                days,
                as_of=days.last,
                questions=False,
                limit=_AT_ONCE,
                after=after,
                where=where,
            )
        )
        found += [one for one in page.records if not is_anothers(one.round)]
        after = page.next
        if after is None:
            break
    return found


def _newest_of_slots(records: Sequence[Record]) -> list[Record]:
    """The records, newest first as given, with each fact linked to the newest one of its slot. No
    rule links facts of which none surely replaces the other, but only one value is shown here."""
    newest: dict[str, FactLink] = {}
    linked = []
    for record in records:
        facts = tuple(_after_newer(fact, newest) for fact in record.facts)
        linked.append(replace(record, facts=facts))
        for fact in record.facts:
            if fact.is_users and fact.slot:
                link = FactLink(record.id, fact.text, record.round.session_date)
                newest.setdefault(fact.slot, link)
    return linked


def _after_newer(fact: Fact, newest: dict[str, FactLink]) -> Fact:
    newer = newest.get(fact.slot or "")
    is_older = newer is not None and fact.is_users and fact.superseded_by is None
    return replace(fact, superseded_by=newer) if is_older else fact


def _told(found: Recalled, store: MemoryReader) -> Iterator[Statement]:
    """The user's statements in a round that tell something, or how to answer; none that they quote.
    That they quote is sure only where one line wants something done with the other lines."""
    round = found.record.round
    read = {one.text: one for one in reading_of(round, store.language).sentences}
    said = said_in(found, store.language)
    asks = any(one.asking > one.telling for one in read.values())
    wants = asks and "\n" in round.user_text.strip()
    for statement in said if wants else as_typed(said):
        sentence = read.get(statement.text)
        # The told beginning of a question is a fact, but no whole sentence.
        if sentence is None or _is_told(sentence):
            is_own = statement.speaker is Speaker.USER
            if is_own or (sentence and _instructs(sentence) and not wants):
                yield statement._replace(speaker=Speaker.USER)


def _is_told(sentence: Sentence) -> bool:
    if sentence.is_polite:
        return False
    tells = sentence.telling >= _TELLS and sentence.telling > sentence.asking
    return tells or _instructs(sentence)


def _instructs(sentence: Sentence) -> bool:
    return sentence.kind is Kind.INSTRUCTS


def _things(told: Sequence[Statement], store: MemoryReader) -> list[Thing]:
    """The things told that still hold, the newest first, each once."""
    linked = superseded_among_others(told, store.language)
    corrected = put_right(linked)
    before = _put_right_by(linked, corrected)
    gone = {s.source.record.id for s in corrected if s.superseded_by}
    leads = {(s.source.record.id, s.lead) for s in corrected}
    holding = [
        # Where a part of a message no longer holds, only the part that holds is quoted.
        s._replace(passage=s.quotable) if s.source.record.id in gone else s
        for s in told_in_order(corrected)[::-1]
        if not s.superseded_by and s.key not in leads
    ]
    once: dict[str, Thing] = {}
    for quote in passages(holding, store.language, replies=False):
        link = (quote.source.record.id, quote.text)
        once.setdefault(quote.quotable.casefold(), Thing(quote, before.get(link, "")))
    return list(once.values())


def _put_right_by(
    linked: Sequence[Statement], corrected: Sequence[Statement]
) -> dict[tuple[str, str], str]:
    """The corrected text, by the round and the text of its correction. Where something was
    corrected several times, the text that was said first."""
    known = {one.key for one in linked if one.superseded_by}
    found: dict[tuple[str, str], str] = {}
    for one in told_in_order(corrected):
        if (link := one.superseded_by) and one.key not in known:
            found[link.round_id, link.text] = found.get(one.key, one.quotable)
    return found


async def _grouped(store: MemoryReader, things: Sequence[Thing]) -> dict[str, list[Thing]]:
    """The things by topic, in the order of the topics."""
    texts = [thing.text for thing in things]
    nearest = [(_NEAR_A_TOPIC, _OTHERS)] * len(things)
    for topic, sentences in TOPICS.items():
        for sentence in sentences:
            closeness = await store.closeness(sentence, texts)
            nearest = [
                max(best, (by, topic), key=lambda one: one[0])
                for best, by in zip(nearest, closeness, strict=True)
            ]
    order = (_PINNED, *TOPICS, _INSTRUCTIONS, _OTHERS)
    groups: dict[str, list[Thing]] = {topic: [] for topic in order}
    for thing, (_, topic) in zip(things, nearest, strict=True):
        if thing.quote.source.record.round.pinned:
            topic = _PINNED
        elif _says_how(thing, store):
            topic = _INSTRUCTIONS
        groups[topic].append(thing)
    return {topic: group for topic, group in groups.items() if group}


def _says_how(thing: Thing, store: MemoryReader) -> bool:
    read = reading_of(thing.quote.source.record.round, store.language).sentences
    return any(one.text == thing.quote.text and _instructs(one) for one in read)


def _shown(topic: str, group: Sequence[Thing]) -> Sequence[Thing]:
    return group[: _MOST_PINNED if topic == _PINNED else _SHOWN]


def _printed(groups: dict[str, list[Thing]], total: int) -> str:
    lines = [f"What I know about you ({plural(total, 'thing')}, the newest of each first):"]
    for topic, group in groups.items():
        lines.append(f"{topic} ({len(group)})")
        shown = _shown(topic, group)
        lines += [thing.line for thing in shown]
        if len(group) > len(shown):
            lines.append(f"- and {len(group) - len(shown)} more")
    return "\n".join(lines)
