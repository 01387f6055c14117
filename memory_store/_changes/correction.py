"""What the user puts right in a round, and the record that results.

A corrected round stays where it was: same session, same index, same id and date, so that links and
turns that are sent again still find it. Nothing of what it said before is kept.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from memory_store._changes.links import without_rule_links
from memory_store._facts import rule_facts
from memory_store._types import (
    CORRECTED,
    Condition,
    Days,
    EnrichmentState,
    Fact,
    Record,
    Round,
    Speaker,
)
from memory_store.errors import InvalidRecord
from memory_store.language import ENGLISH, Language

GIVEN = "user"
"""The source of a fact that the user wrote or put right."""

MOST_FACTS = 2000
"""How many facts a user may give one round. The engine writes them in one go; all others wait."""


@dataclass(frozen=True, slots=True)
class GivenFact:
    """A fact in the user's words; the days it talks about are read from it where none are given."""

    text: str
    event_dates: tuple[Days, ...] | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """What a round should have said, and when the user said so; None leaves a part as it is.

    If a text changes and `facts` is None, the facts are found anew; given `facts` replace all
    facts. The other fields are keyed by the text of a fact. `speakers` says who said it: a fact
    that the user claims replaces earlier statements, a quoted one no longer replaces or contradicts
    anything. `conditions` says until when it holds; None means until something replaces it.
    `ask_on` is the day from which the user is asked whether it still holds; None means never.
    Facts in `confirmed` still hold.
    """

    at: datetime
    user_text: str | None = None
    assistant_text: str | None = None
    facts: tuple[GivenFact, ...] | None = None
    speakers: Mapping[str, Speaker] = field(default_factory=dict)
    conditions: Mapping[str, Condition | None] = field(default_factory=dict)
    ask_on: Mapping[str, date | None] = field(default_factory=dict)
    confirmed: Collection[str] = ()

    @property
    def size(self) -> int:
        """The number of characters in its texts and facts."""
        given = [fact.text for fact in self.facts or ()]
        return sum(map(len, [self.user_text or "", self.assistant_text or "", *given]))

    @property
    def named(self) -> set[str]:
        """The texts of the facts whose speaker, condition or confirmation the correction sets."""
        return {*self.speakers, *self.conditions, *self.ask_on, *self.confirmed}


@dataclass(frozen=True, slots=True)
class Corrected:
    """A record put right, and the sessions of the answers that repeated it and are withdrawn."""

    record: Record
    changed_sessions: frozenset[str] = frozenset()


def corrected(
    record: Record,
    correction: Correction,
    enrichment: EnrichmentState,
    language: Language = ENGLISH,
) -> Record:
    """Return the corrected record, or the same record if it already says all of this.

    `enrichment` is the new state of a round whose texts change: `PENDING` if an extractor is to
    read it again. Facts that the user gave are not read again. Raises `InvalidRecord` if no text
    is left.
    """
    round = _reworded(record.round, correction)
    if not (round.user_text.strip() or round.assistant_text.strip()):
        raise InvalidRecord("no text would be left: forget it instead")
    by_text = {fact.text: fact for fact in record.facts}
    if correction.facts is not None:
        facts, enrichment = _given(round, correction.facts, by_text, language), EnrichmentState.DONE
    elif round != record.round:
        found = rule_facts(round, language)
        facts = tuple(_held_like(fact, by_text.get(fact.text)) for fact in found)
    else:
        facts = record.facts
    if correction.named:
        facts = _settled(facts, correction, language)
        enrichment = EnrichmentState.DONE
    if round == record.round and _said(facts) == _said(record.facts):
        return record
    claims = Speaker.USER in correction.speakers.values()
    return Record(
        _marked(round, facts, correction.at),
        tuple(_linked_like(fact, by_text.get(fact.text)) for fact in facts),
        enrichment,
        may_supersede=record.may_supersede or claims,
    )


def _settled(
    facts: tuple[Fact, ...], correction: Correction, language: Language
) -> tuple[Fact, ...]:
    """Apply what the user says of named facts: speaker, condition, confirmation and day to ask.
    Raises `InvalidRecord` if the memory has no such fact."""
    if unknown := correction.named - {fact.text for fact in facts}:
        raise InvalidRecord(f"the memory has no fact {min(unknown)[:80]!r}")
    return tuple(
        _as_the_user_says(fact, correction, language) if fact.text in correction.named else fact
        for fact in facts
    )


def _as_the_user_says(fact: Fact, correction: Correction, language: Language) -> Fact:
    said = replace(fact, source=GIVEN)
    if speaker := correction.speakers.get(fact.text):
        said = _said_by(said, speaker, language)
    if fact.text in correction.confirmed:
        said = _confirmed(said, correction.at)
    if fact.text in correction.conditions:
        said = replace(said, condition=correction.conditions[fact.text])
    return replace(said, ask_on=correction.ask_on.get(fact.text, said.ask_on))


def _confirmed(fact: Fact, at: datetime) -> Fact:
    """The fact, confirmed by the user; a condition whose last day has passed is dropped."""
    last = fact.condition.until if fact.condition else None
    is_over = last is not None and last < at.date()
    condition = None if is_over else fact.condition
    return replace(fact, condition=condition, confirmed_at=at, ask_on=None)


def _said_by(fact: Fact, speaker: Speaker, language: Language) -> Fact:
    chosen = without_rule_links(fact)
    is_users = speaker is Speaker.USER
    return replace(
        chosen,
        speaker=speaker,
        in_doubt=False,
        slot=language.slot_of(fact.text),
        supersedes=(*chosen.supersedes, *chosen.contradicts) if is_users else (),
        contradicts=(),
    )


def without_answer(
    record: Record, enrichment: EnrichmentState, language: Language = ENGLISH
) -> Record:
    """The record without its answer, because the answer repeats something since forgotten or
    corrected. The user's text stays, and so do facts that the user gave; others are found anew."""
    at = record.round.corrected_at
    round = replace(record.round, assistant_text="", repeats=())
    given = given_facts(record)
    by_text = {fact.text: fact for fact in record.facts}
    facts = given or tuple(
        _linked_like(f, by_text.get(f.text)) for f in rule_facts(round, language)
    )
    return Record(
        replace(_marked(round, facts, at or round.session_date), corrected_at=at),
        facts,
        EnrichmentState.DONE if given else enrichment,
        may_supersede=record.may_supersede,
    )


def given_facts(record: Record | None) -> tuple[Fact, ...]:
    """The record's facts if the user gave any of them, else none. Only the user changes these."""
    facts = record.facts if record else ()
    return facts if any(fact.source == GIVEN for fact in facts) else ()


def _reworded(round: Round, correction: Correction) -> Round:
    user, assistant = correction.user_text, correction.assistant_text
    return replace(
        round,
        user_text=round.user_text if user is None else user,
        assistant_text=round.assistant_text if assistant is None else assistant,
    )


def _given(
    round: Round, facts: tuple[GivenFact, ...], before: Mapping[str, Fact], language: Language
) -> tuple[Fact, ...]:
    if len(facts) > MOST_FACTS:
        raise InvalidRecord(f"a memory has at most {MOST_FACTS} facts")
    found = {fact.text: _to_fact(round, fact, before.get(fact.text), language) for fact in facts}
    return tuple(found.values())


def _to_fact(round: Round, given: GivenFact, before: Fact | None, language: Language) -> Fact:
    """A fact in the user's words. If it was there `before`, it keeps its speaker."""
    if not given.text.strip():
        raise InvalidRecord("a fact needs text")
    days = given.event_dates
    found = language.condition_of(given.text, round.session_date)
    return Fact(
        given.text,
        before.speaker if before else Speaker.USER,
        GIVEN,
        language.event_days(given.text, round.session_date) if days is None else days,
        language.slot_of(given.text),
        in_doubt=before is not None and before.in_doubt,
        condition=before.condition if before else found,
        confirmed_at=before.confirmed_at if before else None,
        ask_on=before.ask_on if before else None,
    )


def _said(facts: tuple[Fact, ...]) -> list[tuple[object, ...]]:
    return [
        (fact.text, fact.event_dates, fact.speaker, fact.in_doubt, *_kept(fact)) for fact in facts
    ]


def _kept(fact: Fact) -> tuple[Condition | None, datetime | None, date | None]:
    """The parts of a fact, other than its words, that the user may have set."""
    return fact.condition, fact.confirmed_at, fact.ask_on


def _held_like(fact: Fact, before: Fact | None) -> Fact:
    """The fact, found again, with the condition and confirmation that the user set before."""
    if before is None or before.source != GIVEN or _kept(before) == _kept(fact):
        return fact
    condition, confirmed_at, ask_on = _kept(before)
    return replace(
        fact, source=GIVEN, condition=condition, confirmed_at=confirmed_at, ask_on=ask_on
    )


def _linked_like(fact: Fact, before: Fact | None) -> Fact:
    """The fact with the links it had before, if its speaker is still the same."""
    if before is None or (before.speaker, before.in_doubt) != (fact.speaker, fact.in_doubt):
        return fact
    # Rules' links depend on the condition, so they are made anew if that has changed.
    linked = before if before.condition == fact.condition else without_rule_links(before)
    return replace(
        fact,
        superseded_by=linked.superseded_by,
        supersedes=linked.supersedes,
        contradicts=linked.contradicts,
    )


def _marked(round: Round, facts: tuple[Fact, ...], at: datetime) -> Round:
    """The round with a mark beside its turns. A writer that still expects the old turns sees from
    the mark that the round has changed."""
    spoken = [text for fact in facts for text in (fact.text, fact.speaker)]
    spoken += [repr(_kept(fact)) for fact in facts if any(_kept(fact))]
    said = "\0".join((at.isoformat(), round.user_text, round.assistant_text, *spoken))
    mark = CORRECTED + hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return replace(round, corrected_at=at, turn_ids=(*round.turns, mark))
