"""What the user puts right in a round, and the record that results.

A corrected round stays where it was: same session, same index, same id and date, so that links and
turns that are sent again still find it. Nothing of what it said before is kept.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_store._changes.links import without_rule_links
from memory_store._facts import rule_facts
from memory_store._types import CORRECTED, Days, EnrichmentState, Fact, Record, Round, Speaker
from memory_store.errors import InvalidRecord
from memory_store.language import ENGLISH, Language

GIVEN = "user"
"""The source of a fact that the user wrote or put right."""

MOST_FACTS = 2000
"""Facts that one round may be given. An engine takes them over in one go, while all others wait."""


@dataclass(frozen=True, slots=True)
class GivenFact:
    """A fact in the user's words; the days it talks about are read from it where none are given."""

    text: str
    event_dates: tuple[Days, ...] | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """What a round should have said, and when that was said; None leaves a part as it is.

    Other texts without `facts` have their facts found anew; `facts` take the place of all others.
    `speakers` say of facts, by their text, who said them: what the user claims replaces earlier
    statements, and what was quoted replaces and contradicts nothing any more.
    """

    at: datetime
    user_text: str | None = None
    assistant_text: str | None = None
    facts: tuple[GivenFact, ...] | None = None
    speakers: Mapping[str, Speaker] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Characters to be read in it."""
        given = [fact.text for fact in self.facts or ()]
        return sum(map(len, [self.user_text or "", self.assistant_text or "", *given]))


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
    """The record put right; the same record where it says all that already.

    `enrichment` is where a round with other texts stands: `PENDING` where an extractor is to read
    it again. Facts that the user gave are not read again. Raises `InvalidRecord` without any text.
    """
    round = _reworded(record.round, correction)
    if not (round.user_text.strip() or round.assistant_text.strip()):
        raise InvalidRecord("no text would be left: forget it instead")
    by_text = {fact.text: fact for fact in record.facts}
    if correction.facts is not None:
        facts, enrichment = _given(round, correction.facts, by_text, language), EnrichmentState.DONE
    elif round != record.round:
        facts = rule_facts(round, language)
    else:
        facts = record.facts
    if correction.speakers:
        facts = _attributed(facts, correction.speakers, language)
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


def _attributed(
    facts: tuple[Fact, ...], speakers: Mapping[str, Speaker], language: Language
) -> tuple[Fact, ...]:
    """The facts with who said them as the user says. Raises `InvalidRecord` where there is no
    such fact."""
    if unknown := set(speakers) - {fact.text for fact in facts}:
        raise InvalidRecord(f"the memory has no fact {min(unknown)[:80]!r}")
    return tuple(
        _said_by(fact, speakers[fact.text], language) if fact.text in speakers else fact
        for fact in facts
    )


def _said_by(fact: Fact, speaker: Speaker, language: Language) -> Fact:
    chosen = without_rule_links(fact)
    is_users = speaker is Speaker.USER
    return replace(
        chosen,
        speaker=speaker,
        source=GIVEN,
        in_doubt=False,
        slot=language.slot_of(fact.text),
        supersedes=(*chosen.supersedes, *chosen.contradicts) if is_users else (),
        contradicts=(),
    )


def without_answer(
    record: Record, enrichment: EnrichmentState, language: Language = ENGLISH
) -> Record:
    """The record without its answer, which repeated what was forgotten or put right since.

    What the user said stays, and the facts that the user gave; all others are found anew.
    """
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
    """The record's facts if the user gave them, which nothing but the user changes."""
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
    """A fact in the user's words. One that was there stays whose it was."""
    if not given.text.strip():
        raise InvalidRecord("a fact needs text")
    days = given.event_dates
    return Fact(
        given.text,
        before.speaker if before else Speaker.USER,
        GIVEN,
        language.event_days(given.text, round.session_date) if days is None else days,
        language.slot_of(given.text),
        in_doubt=before is not None and before.in_doubt,
    )


def _said(facts: tuple[Fact, ...]) -> list[tuple[str, tuple[Days, ...], Speaker, bool]]:
    return [(fact.text, fact.event_dates, fact.speaker, fact.in_doubt) for fact in facts]


def _linked_like(fact: Fact, before: Fact | None) -> Fact:
    """A fact that stays keeps what it replaced and what replaced it."""
    if before is None or (before.speaker, before.in_doubt) != (fact.speaker, fact.in_doubt):
        return fact
    return replace(
        fact,
        superseded_by=before.superseded_by,
        supersedes=before.supersedes,
        contradicts=before.contradicts,
    )


def _marked(round: Round, facts: tuple[Fact, ...], at: datetime) -> Round:
    """The round with a mark beside its turns, so that whoever still writes over what it was before
    is told that it has changed."""
    spoken = (text for fact in facts for text in (fact.text, fact.speaker))
    said = "\0".join((at.isoformat(), round.user_text, round.assistant_text, *spoken))
    mark = CORRECTED + hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return replace(round, corrected_at=at, turn_ids=(*round.turns, mark))
