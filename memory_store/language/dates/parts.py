"""Spans counted from a day ("two weeks ago"), parts of a span ("early" March, "the first week of"
it), and days near a span ("two days after" it)."""

from datetime import date, timedelta

from memory_store._spans import (
    DAY,
    Precision,
    Span,
    add_months,
    month_of,
    nth_weekday,
    one_day,
    quarter_of,
    week_of,
    weekend_of,
    year_of,
)

DAY_UNITS = {"day": 1, "night": 1, "week": 7, "fortnight": 14}
MONTH_UNITS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
AROUND = {"week": week_of, "month": month_of, "quarter": quarter_of, "year": year_of}
AROUND |= {"day": one_day, "weekend": weekend_of}
"""By its name, the function that returns the unit around a day."""
_PRECISION = {"fortnight": Precision.WEEK, "night": Precision.DAY}


def shifted(day: date, unit: str, count: float) -> date:
    """The day some units later (earlier if negative). Fractions of a month count as of 30 days."""
    if unit in DAY_UNITS:
        return day + timedelta(days=round(DAY_UNITS[unit] * count))
    months = MONTH_UNITS[unit] * count
    whole = int(months)
    return add_months(day, whole) + timedelta(days=round((months - whole) * 30))


def half_unit(unit: str) -> timedelta:
    """About half a unit, to be added on each side, as "two weeks ago" is rounded to weeks."""
    if unit in DAY_UNITS:
        return timedelta(days=(DAY_UNITS[unit] - 1) // 2)
    return timedelta(days=15 * MONTH_UNITS[unit] + MONTH_UNITS[unit] // 5)


def counted(today: date, ends: tuple[int, int], unit: str, sign: int, extra: float = 0) -> Span:
    """The days some units away. A number with two ends is vague enough; a single number gets half a
    unit on each side, except for days, which are exact."""
    least, most = ends
    days = sorted(shifted(today, unit, sign * (number + extra)) for number in ends)
    slack = half_unit(unit) if least == most else timedelta()
    slack = slack / 2 if extra else slack  # rounded to half units
    return Span(days[0] - slack, days[1] + slack, _PRECISION.get(unit) or Precision(unit))


def count_of(value: object) -> tuple[int, int]:
    """Least and most of a number: 2 is (2, 2), "a few" (2, 5); none is one."""
    if isinstance(value, list):
        return value[0], value[1]
    number = value if isinstance(value, int) else 1
    return number, number


def decade_of(first: date) -> Span:
    """Ten years from a day on."""
    return Span(first, add_months(first, 120) - DAY, Precision.DECADE)


def unit_around(unit: str, today: date, steps: int) -> Span:
    """The calendar unit around a day, or the one some steps after it (before if negative)."""
    if unit in ("week", "weekend"):
        return AROUND[unit](today + timedelta(weeks=steps))
    if unit == "decade":
        return decade_of(date(today.year // 10 * 10 + 10 * steps, 1, 1))
    return AROUND[unit](shifted(today.replace(day=1), unit, steps))


def window(today: date, count: int, unit: str, sign: int) -> Span:
    """A window of some units that begins today, or ends today if `sign` is negative."""
    if unit == "weekend":
        other = weekend_of(today + timedelta(weeks=sign * count))
        return Span(min(today, other.first), max(today, other.last), Precision.SPAN)
    other_end = shifted(today, unit, sign * count)
    return Span(min(today, other_end), max(today, other_end), Precision.SPAN)


# The begin and the end of a part: days after the first day, or if negative before the day after the
# last. None is the end of the span.
_Ends = tuple[int, int | None]
_OF_DAYS: dict[Precision, dict[str, _Ends]] = {
    Precision.MONTH: {
        "early": (0, 10),
        "middle": (10, 20),
        "late": (20, None),
        "beginning": (0, 10),
        "end": (-10, None),
    },
    Precision.WEEK: {
        "early": (0, 3),
        "middle": (1, 4),
        "late": (3, None),
        "beginning": (0, 2),
        "end": (4, None),
    },
}
# How many months a third has, and how many a beginning or an end.
_OF_MONTHS = {
    Precision.YEAR: (4, 2),
    Precision.SEASON: (1, 1),
    Precision.QUARTER: (1, 1),
    Precision.DECADE: (40, 24),
}


def slice_of(span: Span, name: str) -> Span | None:
    """The early, middle or late part, the beginning or the end of a span."""
    if span.precision in _OF_DAYS:
        return _days(span, *_OF_DAYS[span.precision][name])
    third, edge = _OF_MONTHS.get(span.precision, (0, 0))
    ends: dict[str, _Ends] = {
        "early": (0, third),
        "middle": (third, 2 * third),
        "late": (2 * third, None),
        "beginning": (0, edge),
        "end": (-edge, None),
    }
    return _months(span, *ends[name]) if third else None


def _days(span: Span, begin: int, end: int | None) -> Span | None:
    first = span.first + begin * DAY if begin >= 0 else span.last + (begin + 1) * DAY
    last = span.last if end is None else span.first + (end - 1) * DAY
    return _ordered(first, last, span.precision)


def _months(span: Span, begin: int, end: int | None) -> Span | None:
    first = add_months(span.first if begin >= 0 else span.last + DAY, begin)
    last = span.last if end is None else add_months(span.first, end) - DAY
    return _ordered(first, last, span.precision)


def _ordered(first: date, last: date, precision: Precision) -> Span | None:
    """The range if its ends are in order, else None: "late mid-May" has no days."""
    return Span(first, last, precision) if first <= last else None


def so_far(span: Span, today: date, earlier: bool) -> Span | None:
    """The span up to today ("earlier this month") or from today on ("later this month")."""
    if span.precision is Precision.DAY:
        return span
    if not span.first <= today <= span.last:
        return slice_of(span, "early" if earlier else "late")
    ends = (span.first, today) if earlier else (today, span.last)
    return Span(*ends, span.precision)


def nth_of(span: Span, nth: int, part: str | int) -> Span | None:
    """The nth day, week, weekend, month, half or weekday (a number) of a span; weeks are seven days
    from its first day (or up to its last), not calendar weeks."""
    if part == "half":
        return _half(span, nth)
    if part == "month":
        found = month_of(span.last if nth < 0 else add_months(span.first, nth - 1))
    elif part in ("day", "week"):
        days = 7 if part == "week" else 1
        first = span.last - (days - 1) * DAY if nth < 0 else span.first + days * (nth - 1) * DAY
        found = Span(first, first + (days - 1) * DAY, Precision(part))
    elif span.precision is Precision.MONTH and (part == "weekend" or isinstance(part, int)):
        weekday = part if isinstance(part, int) else 5
        day = nth_weekday(span.first.year, span.first.month, weekday, nth)
        return weekend_of(day) if part == "weekend" else one_day(day)
    else:
        return None
    return found if span.covers(found) else None


def _half(span: Span, nth: int) -> Span | None:
    if abs(nth) > 2:
        return None
    if span.precision in (Precision.YEAR, Precision.DECADE):
        half = 6 if span.precision is Precision.YEAR else 60
        return _months(span, 0, half) if nth == 1 else _months(span, half, None)
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
    if unit in ("day", "night", "week"):
        days = 7 if unit == "week" else 1
        first = span.last + DAY if after else span.first - days * DAY
        return Span(first, first + (days - 1) * DAY, Precision("day" if days == 1 else "week"))
    if unit not in ("month", "year"):
        return None
    months = (1 if unit == "month" else 12) * (1 if after else -1)
    other = add_months(span.last if after else span.first, months)
    ends = (span.last + DAY, other) if after else (other, span.first - DAY)
    return Span(*ends, Precision(unit))


def away(span: Span, count: tuple[int, int], unit: str, after: bool, exact: bool) -> Span:
    """The days some units from a span ("two weeks before X"); only the middle one if `exact`."""
    near = counted(span.last if after else span.first, count, unit, 1 if after else -1)
    if exact and count[0] == count[1]:
        return one_day(near.first + (near.last - near.first) // 2)
    return near


def weekday_beside(span: Span, weekday: int | None, after: bool) -> Span:
    """The nearest such weekday before or after a span; the nearest weekend if `weekday` is None."""
    number = 5 if weekday is None else weekday
    if after:
        day = span.last + DAY
        day += timedelta(days=(number - day.weekday()) % 7)
    else:
        day = span.first - (2 if weekday is None else 1) * DAY
        day -= timedelta(days=(day.weekday() - number) % 7)
    return weekend_of(day) if weekday is None else one_day(day)
