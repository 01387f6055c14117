"""Conclusions from statements by rule: a span, an order, which came first, an item of a list, an
overview.

Every conclusion is one plain sentence, which the reader can check by the quotes below it. Where a
rule does not clearly apply there is no conclusion. An overview is what the user told, oldest first.

Two rules tell that something was never said: a name that nobody mentioned, and a thing that only
another speaker said. "What did Caroline paint?" is answered neither by the sunset that Melanie
painted, nor by what Caroline said of other things.
"""

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from assistant.answering.layouts import plural, print_span, whole_months
from assistant.answering.packing import shortened
from assistant.answering.passages import asked_item, lists_in, passages
from assistant.answering.selection import distinct, near_the_best
from assistant.answering.statements import ASKS, Statement, told_in_order, told_texts, weighed
from memory_store import MemoryReader, Recalled, Speaker
from memory_store.language import (
    LONGEST_READ,
    Asked,
    Language,
    languages_of,
    shared_words,
    terms,
    word_list,
    wording,
)
from memory_store.recall import named_speakers, speakers_of

_WORD = re.compile(r"\w{2,}")


@dataclass(frozen=True, slots=True)
class EventPhrases:
    """Two events, or one and today (`second` empty). `unit` is the unit that is asked for."""

    first: str
    second: str = ""
    unit: str | None = None


def _found(name: str, text: str) -> re.Match[str] | None:
    return wording(f"spans.{name}").search(text)


def asked_span(question: str) -> EventPhrases | None:
    """The events between which a length of time is asked; None where it is not asked."""
    unit = _found("unit", question)
    if not unit and not _found("long", question):
        return None
    text = question.strip().rstrip("?")
    named = unit[1].lower() if unit else None
    if _found("ago", text):
        return _phrases(wording("spans.ago").sub("", text), "", named)
    for name in ("between", "from_to", "fronted", "joined"):
        match = _found(name, text)
        if match and (found := _phrases(match[1], match[2], named)) and found.second:
            return found
    if match := _found("since", text):
        return _phrases(match[1], "", named)
    return None


def asked_choice(question: str) -> tuple[str, str, bool] | None:
    """The two things whose order is asked, and whether the later is wanted; None if not asked."""
    last = _found("last", question) is not None
    if not last and not _found("first", question):
        return None
    text = question.strip().rstrip("?")
    match = _found("choice", text) or _found("plain_choice", text)
    if match is None:
        return None
    first, second = _cleaned(match[1]), _cleaned(match[2])
    return (first, second, last) if first and second else None


def _phrases(first: str, second: str, unit: str | None) -> EventPhrases | None:
    cleaned = _cleaned(first)
    if not cleaned:
        return None
    return EventPhrases(cleaned, _cleaned(second), unit)


def _cleaned(phrase: str) -> str:
    """The phrase without the words that only ask; empty when nothing else is left."""
    phrase = wording("spans.head").sub("", phrase).strip(" ,.?")
    return phrase if _WORD.search(phrase) else ""


_MOST_STEPS = 6
# The least closeness of a statement to the phrase of an event, to be surely about this event.
_SURE = 0.4
_LONGEST_ITEM = 240


class Concluder:
    """Draws conclusions from the statements near one question."""

    def __init__(self, store: MemoryReader, question: str, asked_on: date) -> None:
        self._store = store
        self._question = question
        self._asked_on = asked_on

    async def conclude(
        self, kind: Asked, near: Sequence[Statement], best: Sequence[Statement]
    ) -> tuple[str, list[Statement]]:
        """A sentence, and the statements it rests on; empty where nothing follows.

        `near` are all statements considered, `best` those that would be quoted, nearest first.
        """
        if kind.about_replies:
            return _listed(self._question, [s for s in near if s.speaker is Speaker.ASSISTANT])
        # A question about an event does not tell when the event was.
        said = [s for s in near if s.speaker is Speaker.USER and s.asking < ASKS]
        # A conclusion is said to "you", so it needs one person who speaks.
        if not said or any(s.said_by for s in said):
            return "", []
        if phrases := asked_span(self._question):
            return await self._span(phrases, said)
        if choice := asked_choice(self._question):
            return await self._choice(*choice, said)
        own = [s for s in best if s in said]
        if kind.orders:
            return _order(own)
        return "", []

    async def _span(
        self, phrases: EventPhrases, said: Sequence[Statement]
    ) -> tuple[str, list[Statement]]:
        first = (await weighed(self._store, phrases.first, said))[0]
        if first.closeness < _SURE:
            return "", []
        if not phrases.second:
            return _span_sentence(first.day, self._asked_on, phrases, "ago"), [first]
        others = await weighed(self._store, phrases.second, said)
        second = next((s for s in others if s.day != first.day), None)
        if second is None or second.closeness < _SURE:
            return "", []
        return _span_sentence(first.day, second.day, phrases, "apart"), [first, second]

    async def _choice(
        self, first: str, second: str, wants_last: bool, said: Sequence[Statement]
    ) -> tuple[str, list[Statement]]:
        one = (await weighed(self._store, first, said))[0]
        others = await weighed(self._store, second, said)
        other = next((s for s in others if s.text != one.text), None)
        if other is None or one.day == other.day:
            return "", []
        if min(one.closeness, other.closeness) < _SURE:
            return "", []
        earlier = (first, one) if one.day < other.day else (second, other)
        later = (second, other) if one.day < other.day else (first, one)
        chosen, which = (later, "later") if wants_last else (earlier, "first")
        return f"{_capital(chosen[0])} came {which}.", [earlier[1], later[1]]


def _span_sentence(first: date, last: date, phrases: EventPhrases, how: str) -> str:
    """The span in the unit asked for, with the days it lies between."""
    first, last = min(first, last), max(first, last)
    days, (months, _) = (last - first).days, whole_months(first, last)
    number = {"day": days, "week": days // 7, "month": months, "year": months // 12}
    span = plural(number[phrases.unit], phrases.unit) if phrases.unit else print_span(first, last)
    if phrases.unit == "week" and days % 7:
        span += f" and {plural(days % 7, 'day')}"
    return f"That is {span} {how}: {_print(first)} to {_print(last)}."


def _order(said: Sequence[Statement]) -> tuple[str, list[Statement]]:
    ordered = sorted(said[:_MOST_STEPS], key=lambda s: s.day)
    return ("In the order of their days, oldest first.", ordered) if len(ordered) > 1 else ("", [])


def _listed(question: str, replied: Sequence[Statement]) -> tuple[str, list[Statement]]:
    """The item that the question names by its place, from the list whose lead is nearest to it."""
    wanted = asked_item(question)
    if wanted is None:
        return "", []
    nearest: dict[str, Statement] = {}
    for statement in replied:
        nearest.setdefault(statement.source.record.id, statement)
    found = [
        (shared_words(question, listed.lead), item, s._replace(text=item, passage=listed.in_short))
        for s in nearest.values()
        for listed in lists_in(s.source.record.round.assistant_text)
        if (item := wanted.of(listed))
    ]
    if not found:
        return "", []
    _, item, quote = max(found, key=lambda one: one[0])
    return f"That was: “{shortened(item, _LONGEST_ITEM)}”", [quote]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _print(day: date) -> str:
    return day.strftime("%Y-%m-%d (%a)")


_MOST = 20
_ASKING = frozenset(terms(" ".join(word_list("english", "answers.overview"))))


def names_topic(question: str) -> bool:
    """Whether the question wants an overview of one topic, not of all that was told."""
    return not _ASKING.issuperset(terms(question))


def overview(
    near: Sequence[Statement], language: Language, *, of_topic: bool
) -> tuple[list[Statement], bool]:
    """Statements of the topic, or else the latest ones, oldest first; and whether more was told."""
    own = [one for one in near if one.speaker is Speaker.USER]
    if of_topic and own:
        own = near_the_best(sorted(own, key=lambda one: -one.closeness))
    else:
        own = told_in_order(own)[::-1]
    told = distinct(passages(own, language, replies=False))
    return told_in_order(told[:_MOST]), len(told) > _MOST


# A word with a capital letter that does not open a sentence: Peter, iPad, NovaTech.
_NAME = re.compile(r"(?<=[\w,;:] )[\"'(‘“]?([A-Za-z][\w-]*)")
# "my new bicycle", "do I have a dog": a thing of one's own, after words that only tell which one.
_WHICH = (
    r"(?:(?:new|old|own|other|first|second|third|last|next|current|former|previous|favou?rite|best"
    r"|big|bigger|little|small|older|younger|oldest|youngest|main|only|two|three)\s+)*"
)
_MINE = re.compile(rf"\b(?:my|our)\s+{_WHICH}([a-z]{{3,}})\b")
_HAVE_I = re.compile(
    r"^(?:do|did|have) (?:i|we) (?:ever )?(?:have|had|own|owned|get|got|keep) (?:an?|any)\s+"
    rf"{_WHICH}([a-z]{{3,}})\b",
    re.I,
)
# A thing may have another name. That it is not named counts only where much was read, or all there
# is: fewer rounds than are wanted were recalled.
_MUCH_READ, _MANY_ROUNDS = 8_000, 20
_SAME = [frozenset(terms(names)) for names in word_list("english", "same")]
_KINDS_OF_THINGS = frozenset(terms(" ".join(word_list("english", "answers.kinds_of_things"))))
# Longer words in capitals are shouted, and no names.
_LONGEST_ACRONYM = 4
_LETTERS = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_NO_NAMES = frozenset(
    name.lower()
    for name in (*calendar.month_name, *calendar.month_abbr, *calendar.day_name, *calendar.day_abbr)
) | {"i"}


def unheard(
    question: str, recalled: Sequence[Recalled], unknown: frozenset[str] | None = None
) -> list[str]:
    """The names in the question that no recalled round mentions; days and months are no names.

    Unless `unknown` is None, things of one's own ("my dog") count, too. If much or all was read,
    a thing counts that it does not mention; else its word must also be `unknown` to all of memory.
    """
    # Every German noun has a capital.
    names = [] if "de" in languages_of(question) else _NAME.findall(question)
    asked = {word: word for word in names if _is_name(word)}
    mine = {word: f"your {word}" for word in _MINE.findall(question)}
    mine |= {word: f"having a {word}" for word in _HAVE_I.findall(question)}
    if not (asked or (mine and unknown is not None)):
        return []
    rounds = [found.record.round for found in recalled]
    texts = [text for found in recalled for text in told_texts(found)]
    if not any(text.strip() for text in texts) or any(len(t) > LONGEST_READ for t in texts):
        return []  # nothing was told, or a text is too long to be read whole
    texts += [name for round in rounds for name in (round.user_name, round.assistant_name) if name]
    is_much = len(rounds) < _MANY_ROUNDS or sum(map(len, texts)) >= _MUCH_READ
    if unknown is not None:
        is_much |= any(round.user_name for round in rounds)
        asked |= {word: what for word, what in mine.items() if is_much or _is_new(word, unknown)}
    heard = {term for text in texts for term in terms(text)}
    heard.update(*(names for names in _SAME if names & heard))
    heard |= _KINDS_OF_THINGS
    # A stop word has no terms, so it is no name that could be missing.
    return [what for word, what in asked.items() if (t := terms(word)) and heard.isdisjoint(t)]


def _is_new(word: str, unknown: frozenset[str]) -> bool:
    """Whether memory does not have the word, and no synonym of it is known."""
    return word in unknown and not any(names.intersection(terms(word)) for names in _SAME)


def _is_name(word: str) -> bool:
    return (
        any(letter.isupper() for letter in word)
        and _LETTERS.fullmatch(word) is not None
        and (not word.isupper() or len(word) <= _LONGEST_ACRONYM)
        and len(word) > 2
        and word.lower() not in _NO_NAMES
    )


# How much nearer another person's statement is than any of the person who is asked about. Chosen on
# LoCoMo (benchmarks/LOG.md).
_MUCH_NEARER = 0.12
# "Caroline, I went to Oslo", "Thanks, Caroline!" speak to her, not of her.
_ADDRESS = re.compile(r"(?:^|(?<=[,.!?] ))(?:\w+ )?\w+(?=[,.!?])")


def unsaid(question: str, statements: Sequence[Statement]) -> str:
    """The one speaker that is asked about, if only what others said of themselves comes near; empty
    otherwise, and where the question names no speaker or several."""
    speakers = [speakers_of(name, None) for name in {s.said_by for s in statements}]
    named = named_speakers(question, speakers)
    if len(named) != 1:
        return ""
    (name,) = named
    told = [s for s in statements if s.asking < ASKS]
    own = max((s.closeness for s in told if s.said_by == name), default=0.0)
    others = [
        s.closeness
        for s in told
        if s.said_by not in ("", name)
        and not wording("answers.to_somebody").search(s.text)
        and name not in named_speakers(_ADDRESS.sub("", s.text), speakers)
    ]
    return name if max(others, default=0.0) > own + _MUCH_NEARER else ""
