"""What follows from statements by rule: a span, an order, a count, a sum, an item, yes or no.

Every conclusion is one plain sentence that the quotes below it let the reader check. Where the rule
does not clearly apply there is none.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from assistant.reading.excerpt import shortened
from assistant.reading.question_kind import QuestionKind
from assistant.reading.quoting.event_phrases import EventPhrases, asked_choice, asked_span
from assistant.reading.quoting.passages import asked_item, lists_in
from assistant.reading.quoting.quantities import (
    amounts,
    count_of,
    counted_phrase,
    counts_owned,
    names,
)
from assistant.reading.spans import days_between, plural, print_span, whole_months
from assistant.reading.statements import Statement, weighed
from memory_store import MemoryStore, Speaker, shared_words

_HOW_MUCH = re.compile(
    r"\bhow much\b.{0,200}?\b(?:total|altogether|in all|spen[dt]|paid|cost|raised|earned|worth)\b"
    r"|\btotal (?:amount|cost|money|price)\b",
    re.I,
)
_NEGATED = re.compile(r"\bnot\b|n['’]t\b|\bnever\b|\bno longer\b", re.I)
_MOST_STEPS = 6
_LONGEST_ITEM = 240


class Concluder:
    """Draws conclusions from the statements near one question."""

    def __init__(self, store: MemoryStore, question: str, asked_on: date) -> None:
        self._store = store
        self._question = question
        self._asked_on = asked_on

    async def conclude(
        self, kind: QuestionKind, near: Sequence[Statement], best: Sequence[Statement]
    ) -> tuple[str, list[Statement]]:
        """A sentence, and the statements it rests on; empty where nothing follows.

        `near` are all statements considered, `best` those that would be quoted, nearest first.
        """
        if kind.about_replies:
            return _listed(self._question, [s for s in near if s.speaker is Speaker.ASSISTANT])
        said = [s for s in near if s.speaker is Speaker.USER]
        # What follows is said to "you", from what one person said.
        if not said or any(s.said_by for s in said):
            return "", []
        if phrases := asked_span(self._question):
            return await self._span(phrases, said)
        if choice := asked_choice(self._question):
            return await self._choice(*choice, said)
        own = [s for s in best if s.speaker is Speaker.USER]
        if kind.orders:
            return _order(own)
        if _HOW_MUCH.search(self._question):
            return _sum(own)
        if phrase := counted_phrase(self._question):
            return _count(phrase, own, owned=counts_owned(self._question))
        return _yes_no(self._question, own) if kind.yes_no else ("", [])

    async def _span(
        self, phrases: EventPhrases, said: Sequence[Statement]
    ) -> tuple[str, list[Statement]]:
        first = (await weighed(self._store, phrases.first, said))[0]
        if not phrases.second:
            return _span_sentence(first.day, self._asked_on, phrases, "ago"), [first]
        others = await weighed(self._store, phrases.second, said)
        second = next((s for s in others if s.day != first.day), None)
        if second is None:
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
        earlier = (first, one) if one.day < other.day else (second, other)
        later = (second, other) if one.day < other.day else (first, one)
        chosen, which = (later, "later") if wants_last else (earlier, "first")
        return f"{_capital(chosen[0])} came {which}.", [earlier[1], later[1]]


def _span_sentence(first: date, last: date, phrases: EventPhrases, how: str) -> str:
    """The span in the unit asked for, with the days it lies between."""
    first, last = min(first, last), max(first, last)
    days, (months, _) = days_between(first, last), whole_months(first, last)
    number = {"day": days, "week": days // 7, "month": months, "year": months // 12}
    span = plural(number[phrases.unit], phrases.unit) if phrases.unit else print_span(first, last)
    if phrases.unit == "week" and days % 7:
        span += f" and {plural(days % 7, 'day')}"
    return f"That is {span} {how}: {_print(first)} to {_print(last)}."


def _order(said: Sequence[Statement]) -> tuple[str, list[Statement]]:
    ordered = sorted(said[:_MOST_STEPS], key=lambda s: s.day)
    return ("In the order of their days, oldest first.", ordered) if len(ordered) > 1 else ("", [])


def _sum(said: Sequence[Statement]) -> tuple[str, list[Statement]]:
    priced = [s for s in said if amounts([s.text])]
    found = amounts(s.text for s in priced)
    signs = {sign for sign, _ in found}
    if len(found) < 2 or len(signs) > 1:
        return "", []
    (sign,) = signs
    parts = " + ".join(f"{sign}{amount:,g}" for _, amount in found)
    total = sum(amount for _, amount in found)
    return f"The amounts I find add up to {sign}{total:,g} ({parts}).", priced


def _count(
    phrase: Sequence[str], said: Sequence[Statement], *, owned: bool
) -> tuple[str, list[Statement]]:
    """The number that was stated last; without any, in how many conversations the thing came up."""
    naming = [s for s in said if names(phrase[-1], s.text)]
    numbers = {s.key: count_of(phrase, s.text, owned=owned) for s in naming}
    stated = [s for s in naming if numbers[s.key] is not None]
    if stated:
        newest = max(s.said_on for s in stated)
        last = [s for s in stated if s.said_on == newest]
        if len({numbers[s.key] for s in last}) > 1:
            return "", []
        return f"The number you gave last is {numbers[last[0].key]}.", last[:1]
    sessions = {s.source.record.round.session_id for s in naming}
    if len(sessions) < 2 or any(count_of(phrase, s.text) is not None for s in naming):
        return "", []
    return f"I find {len(sessions)} of them, each from another conversation.", naming


def _listed(question: str, replied: Sequence[Statement]) -> tuple[str, list[Statement]]:
    """The item asked for by its place, of the list whose lead is most like the question."""
    wanted = asked_item(question)
    if wanted is None:
        return "", []
    nearest: dict[str, Statement] = {}
    for statement in replied:
        nearest.setdefault(statement.source.record.id, statement)
    found = [
        (shared_words(question, listed.lead), item, replace(s, text=item, passage=listed.in_short))
        for s in nearest.values()
        for listed in lists_in(s.source.record.round.assistant_text)
        if (item := wanted.of(listed))
    ]
    if not found:
        return "", []
    _, item, quote = max(found, key=lambda one: one[0])
    return f"That was: “{shortened(item, _LONGEST_ITEM)}”", [quote]


def _yes_no(question: str, said: Sequence[Statement]) -> tuple[str, list[Statement]]:
    """Only where a statement holds every word of the question."""
    full = [s for s in said if shared_words(question, s.text) == 1.0]
    if not full:
        return "", []
    newest = max(full, key=lambda s: s.said_on)
    negated = bool(_NEGATED.search(newest.text)) != bool(_NEGATED.search(question))
    return ("No, as you said." if negated else "Yes, as you said."), [newest]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _print(day: date) -> str:
    return day.strftime("%Y-%m-%d (%a)")
