"""The days a statement talks about, read against the day it was said on."""

import re
from datetime import date, datetime

from memory_store.lengths import LONGEST_READ
from memory_store.time.expressions import time_expressions
from memory_store.time.found import WINDOW
from memory_store.time.tense import Cues
from memory_store.time.types import Precision, Relation, TimeExpression
from memory_store.types import Days

# "before Friday" says when something did not happen; a decade is no event's day.
_NO_DAY = (Relation.BEFORE, Relation.AFTER)
_FOR = re.compile(r"\bfor\s+$", re.I)
_SINGLED_OUT = re.compile(
    r"\b(?:last|this|next|past|coming|ago|yesterday|today|tomorrow)\b|\d", re.I
)


def event_dates_of(statement: str, session_date: datetime | date) -> tuple[Days, ...]:
    """The days named in a statement, in its order, each once; plans count like events.

    "since March" and "until Friday" give the day named. Habits ("every Monday"), lengths ("for
    the past two weeks"), ages, clock times and whole decades give none. An instant counts by the
    day of its own zone.
    """
    today = session_date.date() if isinstance(session_date, datetime) else session_date
    statement = statement[:LONGEST_READ]
    cues = Cues(statement)
    days = (
        Days(e.first, e.last)
        for e in time_expressions(statement, today)
        if _names_an_event(e, statement, cues)
    )
    return tuple(dict.fromkeys(days))


def _names_an_event(expression: TimeExpression, statement: str, cues: Cues) -> bool:
    if expression.relation in _NO_DAY or expression.precision is Precision.DECADE:
        return False
    singled_out = _SINGLED_OUT.search(expression.text) is not None
    if not singled_out and cues.is_habit(expression.start):
        return False
    begin = max(0, expression.start - WINDOW)
    follows_for = _FOR.search(statement, begin, expression.start) is not None
    for_how_long = follows_for or expression.text.lower().startswith("for ")
    return not (expression.rolling and for_how_long)
