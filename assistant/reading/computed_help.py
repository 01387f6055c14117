"""Computed help for a language model: dates and differences, numbered mentions, newest first. Pure.

Models go wrong on arithmetic, counting and choosing the newest value more often than on finding the
evidence; what can be computed is computed here, from statements near the question.
"""

from collections.abc import Sequence
from datetime import date
from typing import Any

from assistant.reading.excerpt import shortened
from assistant.reading.question_kind import QuestionKind
from assistant.reading.spans import days_between, plural, print_span
from assistant.reading.speakers import as_said
from assistant.reading.statements import Statement
from memory_store import Speaker

_MOST_STATEMENTS = 10
_LONGEST = 200
# Statements much farther from the question than the nearest one are about something else.
_NEAR_THE_BEST = 0.6


def computed_help(
    kind: QuestionKind, statements: Sequence[Statement], asked_on: date
) -> dict[str, Any]:
    """What helps with this kind of question; empty where nothing does.

    `statements` come nearest first. Every entry quotes its statement, so that the reader can check.
    """
    near = _near(statements)
    if not near:
        return {}
    if kind.about_time:
        return {"dated_statements": timeline(near, asked_on)}
    if kind.counts:
        return {"mentions": mentions(near)}
    if len({statement.said_on for statement in near}) > 1:
        return {"newest_statements_first": newest_first(near)}
    return {}


def timeline(statements: Sequence[Statement], asked_on: date) -> list[dict[str, Any]]:
    """The statements by the day they are about, with the days between them and until today."""
    lines: list[dict[str, Any]] = []
    previous: date | None = None
    for statement in sorted(statements, key=lambda s: s.day):
        day = statement.day
        line: dict[str, Any] = {
            "day": _print(day),
            "day_is": "when it happened" if statement.happened_on else "when it was said",
            "before_today": print_span(day, asked_on) if day <= asked_on else "in the future",
        }
        if previous is not None:
            line["after_the_previous"] = plural(days_between(previous, day), "day")
        lines.append(line | {"statement": _text(statement)})
        previous = day
    return lines


def mentions(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """The statements numbered in the order they were said, the same words once."""
    distinct = {(s.said_by, s.text.casefold()): s for s in reversed(statements)}
    in_order = sorted(distinct.values(), key=lambda s: (s.said_on, -s.nearness))
    return [
        {"number": number, "said_on": _print(statement.said_on), "statement": _text(statement)}
        for number, statement in enumerate(in_order, start=1)
    ]


def newest_first(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """The statements by the day they were said, the newest marked."""
    ordered = sorted(statements, key=lambda s: s.said_on, reverse=True)
    newest = ordered[0].said_on
    return [
        {"said_on": _print(statement.said_on), "statement": _text(statement)}
        | ({"is_newest": True} if statement.said_on == newest else {})
        for statement in ordered
    ]


def _near(statements: Sequence[Statement]) -> list[Statement]:
    """The nearest; what was quoted from others is no help with what is asked of the user."""
    said = [s for s in statements if s.speaker is not Speaker.QUOTED]
    if not said:
        return []
    enough = said[0].closeness * _NEAR_THE_BEST
    return [s for s in said if s.closeness >= enough][:_MOST_STATEMENTS]


def _text(statement: Statement) -> str:
    return as_said(statement.said_by, shortened(statement.text, _LONGEST))


def _print(day: date) -> str:
    return day.strftime("%Y-%m-%d (%a)")
