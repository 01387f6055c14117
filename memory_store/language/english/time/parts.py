"""Words before a span that name a part of it or days near it: "early", "the end of", "the first
week of", "the week of", "two days after", "the Friday before".
"""

import re
from collections.abc import Callable
from datetime import date, timedelta

from memory_store.language.english.time.relative import counted
from memory_store.language.english.time.vocabulary import (
    COUNT,
    ORDINAL,
    ORDINALS,
    UNIT,
    WEEKDAY,
    count_of,
    weekday_number,
)
from memory_store.time.calendar import (
    DAY,
    add_months,
    month_of,
    nth_weekday,
    one_day,
    week_of,
    weekend_of,
)
from memory_store.time.types import Precision, Span

# Months of an early, middle and late part, and of a beginning and an end, by precision.
_THIRD = {
    Precision.YEAR: 4,
    Precision.SEASON: 1,
    Precision.QUARTER: 1,
    Precision.DECADE: 40,
}
_EDGE = {Precision.YEAR: 2, Precision.SEASON: 1, Precision.QUARTER: 1, Precision.DECADE: 24}


def _months(span: Span, begin: int, end: int) -> Span:
    return Span(add_months(span.first, begin), add_months(span.first, end) - DAY, span.precision)


def _days(span: Span, begin: int, end: int | None) -> Span:
    last = span.last if end is None else span.first + timedelta(days=end - 1)
    return Span(span.first + timedelta(days=begin), last, span.precision)


def _early(span: Span) -> Span | None:
    if span.precision is Precision.MONTH:
        return _days(span, 0, 10)
    if span.precision is Precision.WEEK:
        return _days(span, 0, 3)
    third = _THIRD.get(span.precision)
    return _months(span, 0, third) if third else None


def _middle(span: Span) -> Span | None:
    if span.precision is Precision.MONTH:
        return _days(span, 10, 20)
    if span.precision is Precision.WEEK:
        return _days(span, 1, 4)
    third = _THIRD.get(span.precision)
    return _months(span, third, 2 * third) if third else None


def _late(span: Span) -> Span | None:
    if span.precision is Precision.MONTH:
        return _days(span, 20, None)
    if span.precision is Precision.WEEK:
        return _days(span, 3, None)
    third = _THIRD.get(span.precision)
    return _months(span, 2 * third, 3 * third) if third else None


def _beginning(span: Span) -> Span | None:
    if span.precision is Precision.WEEK:
        return _days(span, 0, 2)
    edge = _EDGE.get(span.precision)
    return _months(span, 0, edge) if edge else _early(span)


def _end(span: Span) -> Span | None:
    if span.precision is Precision.WEEK:
        return _days(span, 4, None)
    if span.precision is Precision.MONTH:
        return Span(span.last - timedelta(days=9), span.last, span.precision)
    edge = _EDGE.get(span.precision)
    return Span(add_months(span.last + DAY, -edge), span.last, span.precision) if edge else None


_SLICES: dict[str, Callable[[Span], Span | None]] = {
    "early": _early,
    "mid": _middle,
    "middle": _middle,
    "late": _late,
    "beginning": _beginning,
    "start": _beginning,
    "end": _end,
}


def _slice(match: re.Match[str], span: Span, today: date) -> Span | None:
    return _SLICES[match["slice"].lower()](span)


def _so_far(match: re.Match[str], span: Span, today: date) -> Span | None:
    """Up to today ("earlier this month") or from today on ("later this month")."""
    if span.precision is Precision.DAY:
        return span
    if not span.first <= today <= span.last:
        return _early(span) if match["side"].lower() == "earlier" else _late(span)
    if match["side"].lower() == "earlier":
        return Span(span.first, today, span.precision)
    return Span(today, span.last, span.precision)


def _nth(match: re.Match[str], span: Span, today: date) -> Span | None:
    """The nth day, week, weekend, weekday, month or half of a span; weeks are seven days from
    its first day (or up to its last), not calendar weeks."""
    nth, part = ORDINALS[match["ordinal"].lower()], match["part"].lower()
    if part == "half":
        return _half(span, nth)
    if part == "month":
        first = add_months(span.last + DAY, -1) if nth < 0 else add_months(span.first, nth - 1)
        return _inside(span, month_of(first))
    if part == "day":
        return _inside(span, one_day(span.last if nth < 0 else span.first + (nth - 1) * DAY))
    if part == "week":
        first = span.last - 6 * DAY if nth < 0 else span.first + 7 * (nth - 1) * DAY
        return _inside(span, Span(first, first + 6 * DAY, Precision.WEEK))
    if span.precision is not Precision.MONTH:
        return None
    number = 5 if part == "weekend" else weekday_number(part)
    day = nth_weekday(span.first.year, span.first.month, number, nth)
    return weekend_of(day) if part == "weekend" else one_day(day)


def _inside(span: Span, part: Span) -> Span | None:
    return part if span.covers(part) else None


def _half(span: Span, nth: int) -> Span | None:
    if abs(nth) > 2:
        return None
    if span.precision in (Precision.YEAR, Precision.DECADE):
        months = 6 if span.precision is Precision.YEAR else 60
        return _months(span, 0, months) if nth == 1 else _months(span, months, 2 * months)
    middle = 15 if span.precision is Precision.MONTH else (span.last - span.first).days // 2 + 1
    return _days(span, 0, middle) if nth == 1 else _days(span, middle, None)


def _around(match: re.Match[str], span: Span, today: date) -> Span | None:
    if match["unit"].lower() == "month":
        return span if span.precision is Precision.MONTH else None
    if (span.last - span.first).days > 6:
        return None
    if match["unit"].lower() == "weekend":
        return weekend_of(span.first)
    return week_of(span.first)


def _next_to(match: re.Match[str], span: Span, today: date) -> Span | None:
    """Days that touch the span ("the day before X"), or units away ("two weeks before X")."""
    after = match["side"].lower() in ("after", "following", "from")
    unit, count = match["unit"].lower().removesuffix("s"), match["count"].lower()
    if count != "the":
        edge = span.last if after else span.first
        near = counted(edge, count, unit, 1 if after else -1)
        exact = match["side"].lower() == "from" and len(set(count_of(count))) == 1
        return _middle_day(near) if exact else near
    if unit in ("night", "morning", "evening", "day"):
        return one_day(span.last + DAY if after else span.first - DAY)
    if unit == "week":
        first = span.last + DAY if after else span.first - 7 * DAY
        return Span(first, first + 6 * DAY, Precision.WEEK)
    if unit in ("month", "year"):
        months = (1 if unit == "month" else 12) * (1 if after else -1)
        other = add_months(span.last if after else span.first, months)
        ends = (span.last + DAY, other) if after else (other, span.first - DAY)
        return Span(*ends, Precision(unit))
    return None


def _middle_day(span: Span) -> Span:
    return one_day(span.first + (span.last - span.first) // 2)


def _weekday_next_to(match: re.Match[str], span: Span, today: date) -> Span | None:
    weekend = match["weekday"].lower() == "weekend"
    weekday = 5 if weekend else weekday_number(match["weekday"])
    if match["side"].lower() == "before":
        latest = span.first - (2 if weekend else 1) * DAY
        day = latest - ((latest.weekday() - weekday) % 7) * DAY
    else:
        earliest = span.last + DAY
        day = earliest + ((weekday - earliest.weekday()) % 7) * DAY
    return weekend_of(day) if weekend else one_day(day)


Part = Callable[[re.Match[str], Span, date], Span | None]


def _before(pattern: str, part: Part) -> tuple[re.Pattern[str], Part]:
    return re.compile(rf"(?<!\w)(?:the\s+)?{pattern}", re.I), part


# Each pattern is matched against the text that ends where the span begins.
PARTS: tuple[tuple[re.Pattern[str], Part], ...] = (
    _before(r"(?P<slice>early|mid|late)(?:-|\s+(?:in\s+|on\s+)?)(?:the\s+)?$", _slice),
    _before(r"(?P<slice>beginning|start|middle|end)\s+of(?:\s+the)?\s+$", _slice),
    _before(r"(?P<side>earlier|later)\s+(?:on\s+)?(?:in\s+)?(?:the\s+)?$", _so_far),
    _before(
        rf"(?P<ordinal>{ORDINAL})\s+(?P<part>day|week|weekend|month|half|{WEEKDAY})\s+"
        r"(?:of|in)(?:\s+the)?\s+$",
        _nth,
    ),
    _before(r"(?P<unit>week|weekend|month)s?\s+of(?:\s+the)?\s+$", _around),
)
NEAR: tuple[tuple[re.Pattern[str], Part], ...] = (
    (
        re.compile(
            rf"(?<!\w)(?P<count>the|{COUNT})\s+(?P<unit>(?:{UNIT}|morning|evening)s?)\s+"
            r"(?P<side>before|after|prior\s+to|following|from)(?:\s+the)?\s+$",
            re.I,
        ),
        _next_to,
    ),
    (
        re.compile(
            rf"(?<!\w)the\s+(?P<weekday>weekend|{WEEKDAY})\s+(?P<side>before|after)(?:\s+the)?\s+$",
            re.I,
        ),
        _weekday_next_to,
    ),
)
