"""Time expressions in a text, read against a reference day, and the days a statement talks about.

Own rules first, dateparser on what they leave. Precise words give precise days; words people
round give the days they may mean (see `half_unit` and `VAGUE`). Weeks begin on Monday; 5/3 is
May 3rd; names of days that come again look back unless the verb looks ahead.
"""

import re
from datetime import date, datetime

from memory_store.language.english.time.absolute import ABSOLUTE
from memory_store.language.english.time.compose import compose
from memory_store.language.english.time.fallback import search_rest
from memory_store.language.english.time.found import WINDOW, Found, Reference, Rule
from memory_store.language.english.time.holidays import HOLIDAYS, NAMES, without_titles
from memory_store.language.english.time.months import MONTH_RULES
from memory_store.language.english.time.relative import RELATIVE
from memory_store.language.english.time.tense import Cues
from memory_store.language.english.time.vocabulary import TIME_OF_DAY, WEEKDAY
from memory_store.language.english.time.weekdays import WEEKDAY_RULES
from memory_store.language.sentences import LONGEST_READ
from memory_store.time.types import Precision, Relation, TimeExpression
from memory_store.types import Days

_RULES: tuple[Rule, ...] = (*NAMES, *ABSOLUTE, *RELATIVE, *WEEKDAY_RULES, *HOLIDAYS, *MONTH_RULES)

# Without one of these no rule can match; most sentences have none.
_HINT = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|back|hence|weekend|q[1-4]\b|quarter|nye|xmas|mlk"
    r"|(?:last|past|this|next|coming|previous)\s+[\w]|the\s+(?:week|month|year|day|night)\b"
    r"|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    r"|spring|summer|autumn|fall|winter|christ|easter|good\s+fri|palm|ash\s|hallow|thanks|valentine"
    r"|new\s+year|mother|father|memorial|labo|veteran|president|indep|black\s+fri|cyber|boxing"
    r"|cinco|earth|ground|st\b\.?\s+p|saint|columb|indig|fourth|the\s+\w+ties"
    r"|(?:19|20)\d\d\b|\d{1,2}(?:st|nd|rd|th)\b|\d{1,2}/\d|(?:19|20)?\d0'?s\b"
    r"|in\s+(?:\w+\s+){1,3}(?:day|week|fortnight|month|year)|from\s+(?:now|today))",
    re.I,
)


def time_expressions(text: str, today: date) -> list[TimeExpression]:
    """The expressions of a text in order, as far as it is read. `today` is the day it was said
    on."""
    text = text[:LONGEST_READ]
    plain = without_titles(text.replace("’", "'"))
    if _HINT.search(plain) is None:
        return []
    reference = Reference(plain, today, Cues(plain))
    selected = _selected(_matches(reference))
    found = compose(selected, reference) + _left_over(plain, selected, today)
    return [_expression(item, text) for item in sorted(found, key=lambda item: item.start)]


def _matches(reference: Reference) -> list[Found]:
    found = []
    for pattern, build in _RULES:
        for match in pattern.finditer(reference.text):
            try:
                item = build(match, reference)
            except (OverflowError, ValueError):
                continue  # "3000 years ago": outside the calendar
            if item is not None:
                found.append(item)
    return found


def _selected(found: list[Found]) -> list[Found]:
    """The leftmost finds, the longest of those that begin together; rules' order breaks ties."""
    out: list[Found] = []
    for item in sorted(found, key=lambda item: (item.start, -item.end)):
        if not out or item.start >= out[-1].end:
            out.append(item)
    return out


def _left_over(text: str, found: list[Found], today: date) -> list[Found]:
    rest = list(text)
    for item in found:
        rest[item.start : item.end] = " " * (item.end - item.start)
    return [Found(start, end, span) for start, end, span in search_rest("".join(rest), today)]


def _expression(item: Found, text: str) -> TimeExpression:
    span = item.span
    if span is None:
        raise ValueError("a find without days is no expression")
    words = text[item.start : item.end].strip()
    return TimeExpression(
        span.first, span.last, span.precision, words, item.start, item.relation, item.rolling
    )


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
    today = _day(session_date)
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


# Words that count from the day they were said on, whatever the sentence is about.
_COUNTED = re.compile(
    r"(?:(?:on|since|until|till|by|for|during|over|in|from|before|after|around)\s+)?(?:the\s+)?"
    r"(?:day\s+before\s+yesterday|yesterday|night\s+before\s+last|last\s+(?:night|evening)"
    r"|day\s+after\s+tomorrow|tomorrow|[\w-]+\s+days?\s+ago"
    rf"|last\s+(?:week|weekend|month|year|{WEEKDAY})|next\s+(?:week|month|year))"
    rf"(?:\s+{TIME_OF_DAY})?",
    re.I,
)
# Each of them has one of these in it, which is found a thousand times as fast as what they name.
_MAY_COUNT = re.compile(r"yesterday|tomorrow|last|next|ago", re.I)


def counted_days_of(text: str, said_on: datetime | date) -> list[tuple[str, Days]]:
    """The words of a text that count from the day they were said on, with the days they name.

    Left out are days that a verb decides ("on Friday"), those that people count in two ways ("next
    Friday"), numbers that are rounded ("two weeks ago"), and those that name the day itself.
    """
    if _MAY_COUNT.search(text) is None:
        return []
    return [
        (e.text, Days(e.first, e.last))
        for e in time_expressions(text, _day(said_on))
        if _COUNTED.fullmatch(e.text) and not e.rolling and _is_sure(e)
    ]


def _is_sure(expression: TimeExpression) -> bool:
    return expression.precision is not Precision.DAY or expression.first == expression.last


def _day(instant: datetime | date) -> date:
    return instant.date() if isinstance(instant, datetime) else instant
