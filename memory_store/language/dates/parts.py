"""Parts of a span and days near it: "early" March, "the first week of" it, "two days after"."""

from collections.abc import Callable
from datetime import date, timedelta

from memory_store.language.dates.found import counted
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


SLICES: dict[str, Callable[[Span], Span | None]] = {
    "early": _early,
    "middle": _middle,
    "late": _late,
    "beginning": _beginning,
    "end": _end,
}
"""Parts by the kind of the word for them."""


def so_far(span: Span, today: date, earlier: bool) -> Span | None:
    """Up to today ("earlier this month") or from today on ("later this month")."""
    if span.precision is Precision.DAY:
        return span
    if not span.first <= today <= span.last:
        return _early(span) if earlier else _late(span)
    ends = (span.first, today) if earlier else (today, span.last)
    return Span(*ends, span.precision)


def nth_of(span: Span, nth: int, part: str | int) -> Span | None:
    """The nth day, week, weekend, month, half or weekday (a number) of a span; weeks are seven days
    from its first day (or up to its last), not calendar weeks."""
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
    if span.precision is not Precision.MONTH or not (part == "weekend" or isinstance(part, int)):
        return None
    weekday = part if isinstance(part, int) else 5
    day = nth_weekday(span.first.year, span.first.month, weekday, nth)
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


def around(span: Span, unit: str) -> Span | None:
    """The week, weekend or month of a day."""
    if unit == "month":
        return span if span.precision is Precision.MONTH else None
    if (span.last - span.first).days > 6 or unit not in ("week", "weekend"):
        return None
    return weekend_of(span.first) if unit == "weekend" else week_of(span.first)


def beside(span: Span, unit: str, after: bool) -> Span | None:
    """The day, week, month or year that touches a span: "the day before X"."""
    if unit in ("night", "day"):
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


def away(span: Span, count: tuple[int, int], unit: str, after: bool, exact: bool) -> Span:
    """Days some units from a span: "two weeks before X"; of exact ones the middle."""
    near = counted(span.last if after else span.first, count, unit, 1 if after else -1)
    if exact and count[0] == count[1]:
        return one_day(near.first + (near.last - near.first) // 2)
    return near


def weekday_beside(span: Span, weekday: int | None, after: bool) -> Span:
    """The nearest weekday before or after a span; without a weekday the weekend."""
    number = 5 if weekday is None else weekday
    if after:
        earliest = span.last + DAY
        day = earliest + ((number - earliest.weekday()) % 7) * DAY
    else:
        latest = span.first - (2 if weekday is None else 1) * DAY
        day = latest - ((latest.weekday() - number) % 7) * DAY
    return weekend_of(day) if weekday is None else one_day(day)
