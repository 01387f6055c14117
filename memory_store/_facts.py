"""Facts without a model: what the user's side of a round states, and whose words it is."""

import re
from dataclasses import replace

from memory_store._types import Fact, Record, Round, Speaker
from memory_store.language import ENGLISH, Language, without_lead
from memory_store.language.authorship import (
    AMONG_PEOPLE,
    RULE,
    Authorship,
    authorship,
    quotes_a_text,
)
from memory_store.language.reading import Reading
from memory_store.language.sentences import LONGEST_QUERY, sentences

# A question that still needs an answer usually stands at the end of a message.
_LAST_SENTENCES = 3
_LAST_WORDS = 1500
# A sentence counts as a question if its certainty of only asking is above this.
_SURELY = 0.5
_QUESTION_ENDS = re.compile(r"[^.!?？\n]*[?？]")


def rule_facts(round: Round, language: Language = ENGLISH) -> tuple[Fact, ...]:
    """The statements in what the user said, each once, in order. Statements in quoted passages are
    facts too, marked as quoted. Questions state nothing."""
    texts = language.statements(without_lead(round.user_text))
    words = words_of(round) if texts else None
    return tuple(
        said_by(
            Fact(
                text,
                event_dates=language.event_days(text, round.session_date),
                slot=language.slot_of(text),
                condition=language.condition_of(text, round.session_date),
            ),
            words,
        )
        for text in texts
        if words
    )


def only_asks(record: Record, language: Language = ENGLISH) -> bool:
    """Whether each sentence of the user's is surely a question, so that there is nothing to
    remember. False if a model has found a fact in it, or if the user has given one."""
    text = record.round.user_text
    if not text.strip() or len(text) > LONGEST_QUERY:
        return False
    if any(fact.source != "rule" or goes_on_to_ask(fact.text, text) for fact in record.facts):
        return False
    return all(one.only_asks > _SURELY for one in reading_of(record.round, language).sentences)


def reading_of(round: Round, language: Language = ENGLISH) -> Reading:
    """The reading of what the user said: the one kept with the round, or a new one if there is none
    or it is of another text."""
    known = round.reading
    return known if known and known.text == round.user_text else language.read(round.user_text)


def goes_on_to_ask(fact: str, user_text: str) -> bool:
    """Whether the fact is the beginning of a question: "I moved to Lyon" in "I moved to Lyon, where
    can I swim?"."""
    if fact.endswith((".", "!", "?")):
        return False
    after = user_text.partition(fact)[2]
    return _QUESTION_ENDS.match(after) is not None


def ends_asking(round: Round) -> bool:
    """Whether the round ends with a question among several people, which the next round may answer.
    If an assistant replies, the answer is in the round itself."""
    if not round.user_name or round.assistant_text.strip():
        return False
    last = sentences(round.user_text[-_LAST_WORDS:])[-_LAST_SENTENCES:]
    return any(sentence.endswith("?") for sentence in last)


def words_of(round: Round) -> Authorship:
    """Judge whose words the user's side of a round is made of."""
    text = without_lead(round.user_text)
    return authorship(text, AMONG_PEOPLE if round.user_name else RULE)


def is_quoting(record: Record) -> bool:
    """Whether most of the user's side surely quotes somebody else. If a model or the user gave any
    of the facts, all must be quoted; otherwise the form of the text decides."""
    speakers = {fact.speaker for fact in record.facts}
    if Speaker.QUOTED not in speakers:
        return False
    is_by_rule = all(fact.source == "rule" for fact in record.facts)
    return quotes_a_text(record.round.user_text) if is_by_rule else len(speakers) == 1


def said_by(fact: Fact, words: Authorship) -> Fact:
    """The fact with its speaker, as far as the message tells who said it."""
    is_own = fact.text in words.own
    return replace(
        fact,
        speaker=Speaker.USER if is_own else Speaker.QUOTED,
        in_doubt=not (is_own and words.is_sure),
    )


def slot_of(statement: str, user_text: str, language: Language) -> str | None:
    """The slot for which a statement gives a value, if the user's side has it word for word."""
    return language.slot_of(statement) if statement in user_text else None
