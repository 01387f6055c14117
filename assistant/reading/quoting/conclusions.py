"""What follows from statements by rule: a span, an order, which came first, an item of a list.

Every conclusion is one plain sentence that the quotes below it let the reader check. Where the rule
does not clearly apply there is none.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from assistant.reading.excerpt import shortened
from assistant.reading.question_kind import QuestionKind
from assistant.reading.quoting.event_phrases import EventPhrases, asked_choice, asked_span
from assistant.reading.quoting.passages import asked_item, lists_in
from assistant.reading.spans import days_between, plural, print_span, whole_months
from assistant.reading.statements import Statement, weighed
from memory_store import MemoryStore, Speaker, shared_words

_MOST_STEPS = 6
# How near a statement is to the phrase of an event, to be surely about it.
_SURE = 0.4
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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _print(day: date) -> str:
    return day.strftime("%Y-%m-%d (%a)")
