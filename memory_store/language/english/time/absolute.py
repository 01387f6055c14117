"""Rules for days written out: 2023/05/20, May 3rd, 3-5 May 2023, 5/3 (month first), the 15th."""

import re
from datetime import date, timedelta

from memory_store.language.english.time.found import (
    ANCHORS_OF_DAYS,
    Found,
    Reference,
    Rule,
    fixed,
    picked,
    rule,
)
from memory_store.language.english.time.vocabulary import (
    ANY_MONTH,
    ANY_WEEKDAY,
    CLEAR_AFTER,
    DAY_NUMBER,
    DAY_ORDINAL,
    MONTH,
    WEEKDAY,
    YEAR,
    month_number,
    weekday_number,
)
from memory_store.time.calendar import Recurring, monthly, one_day, yearly
from memory_store.time.types import Precision, Span


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _span(year: int, month: int, first: int, last: int) -> Span | None:
    begin, end = _date(year, month, first), _date(year, month, last)
    if begin is None or end is None or begin > end:
        return None
    return Span(begin, end, Precision.DAY if begin == end else Precision.SPAN)


def _iso(match: re.Match[str], reference: Reference) -> Found | None:
    day = _date(int(match["y"]), int(match["m"]), int(match["d"]))
    return fixed(match, one_day(day)) if day else None


def _slashed(match: re.Match[str], reference: Reference) -> Found | None:
    """Month first, unless the first number cannot be a month."""
    month, day, year = int(match["m"]), int(match["d"]), int(match["y"])
    if month > 12:
        month, day = day, month
    if year < 100 and year + 2000 > reference.today.year + 1:
        return None
    found = _date(year + 2000 if year < 100 else year, month, day)
    return fixed(match, one_day(found)) if found else None


def _short(match: re.Match[str], reference: Reference) -> Found | None:
    month, day = int(match["m"]), int(match["d"])
    if _span(2000, month, day, day) is None:
        return None
    recurring = yearly(lambda year: _span(year, month, day, day))
    # 1/2 and 3/4 are fractions more often than days.
    like_a_fraction = month <= day and day in _DENOMINATORS
    needs = frozenset({"on"}) if like_a_fraction else ANCHORS_OF_DAYS
    return picked(match, recurring, reference, needs=needs)


def _day_of_month(match: re.Match[str], reference: Reference) -> Found | None:
    month, first = month_number(match["month"]), _number(match["first"])
    last = _number(match["last"]) if match["last"] else first
    if match["year"]:
        year = _number(match["year"])
        span = _span(year + 2000 if year < 100 else year, month, first, last)
        return fixed(match, span) if span else None
    days = yearly(lambda year: _span(year, month, first, last))
    if match["weekday"] and (span := _on(match["weekday"], days, reference.today)):
        return fixed(match, span)
    return picked(match, days, reference)


def _on(weekday: str, days: Recurring, today: date) -> Span | None:
    """The nearest that begins on the weekday, where it is not years away."""
    number = weekday_number(weekday)
    fitting = [span for span in days.near(today) if span.first.weekday() == number]
    nearest = min(fitting, key=lambda span: abs(span.first - today), default=None)
    return nearest if nearest and abs(nearest.first - today) < _YEARS else None


def _ordinal(match: re.Match[str], reference: Reference) -> Found | None:
    day = _number(match["day"] or match["of"])
    return picked(match, monthly(day), reference, needs=ANCHORS_OF_DAYS)


_YEARS = timedelta(days=500)
_DENOMINATORS = {2, 3, 4, 5, 6, 8, 10, 12, 16}
_TO = r"(?:\s*[-–—]\s*|\s+(?:to|through|till|until|and)\s+)"
_DAY = rf"(?:{DAY_ORDINAL}|{DAY_NUMBER})"
_DAYS = rf"(?P<first>{_DAY})(?:{_TO}(?:the\s+)?(?P<last>{_DAY}))?"
_ORDINAL_DAYS = rf"(?P<first>{DAY_ORDINAL})(?:{_TO}(?:the\s+)?(?P<last>{_DAY}))?"
_YEAR = rf",?[\s-]+(?:of\s+)?(?P<year>{YEAR}|'\d\d)(?!\s*%)"
_WEEKDAY = rf"(?:(?P<weekday>{ANY_WEEKDAY}),?\s+(?:the\s+)?|the\s+)?"
# "May 5 people", "March 3 miles": a number of things.
_NOT_THINGS = (
    r"(?![\d:/]|\.\d|\s*(?:%|[ap]\.?m\b)|\s+(?:people|miles|times|of\s+(?:the|my|us)|km|kg)\b)"
)
# A time of day may follow, which is no part of the date.
_CLEAR = rf"{_NOT_THINGS}(?:{CLEAR_AFTER}|(?=,?\s+(?:at\s+)?\d{{1,2}}(?:[:.]\d\d|\s*[ap]m)))"

ABSOLUTE: tuple[Rule, ...] = (
    rule(
        r"(?P<y>(?:19|20)\d\d)(?P<sep>[-/.])(?P<m>0?[1-9]|1[0-2])(?P=sep)(?P<d>3[01]|[12]\d|0?[1-9])"
        r"(?:t\d\d:\d\d[\d:.]*z?)?(?![-/\d])",
        _iso,
    ),
    rule(
        r"(?<![/\d-])(?P<m>\d{1,2})(?P<sep>[-/])(?P<d>\d{1,2})(?P=sep)(?P<y>(?:19|20)\d\d)(?![-/\d])",
        _slashed,
    ),
    rule(r"(?<![/\d-])(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d\d)(?![-/\d])", _slashed),
    rule(
        r"(?<![/\d-])(?P<m>0?[1-9]|1[0-2])/(?P<d>3[01]|[12]\d|0?[1-9])(?![-/\d%]|\.\d)"
        rf"{CLEAR_AFTER}",
        _short,
    ),
    rule(rf"{_WEEKDAY}(?P<month>{ANY_MONTH})\s+(?:the\s+)?{_DAYS}{_YEAR}", _day_of_month),
    rule(
        rf"{_WEEKDAY}(?P<month>{ANY_MONTH})\s+(?:the\s+)?{_ORDINAL_DAYS}(?P<year>)", _day_of_month
    ),
    rule(rf"{_WEEKDAY}(?P<month>{MONTH})\s+{_DAYS}(?P<year>){_NOT_THINGS}", _day_of_month),
    rule(rf"{_WEEKDAY}{_DAYS}(?:\s+of)?[\s-]+(?P<month>{ANY_MONTH}){_YEAR}", _day_of_month),
    rule(rf"{_WEEKDAY}{_ORDINAL_DAYS}(?:\s+of)?\s+(?P<month>{ANY_MONTH})(?P<year>)", _day_of_month),
    rule(rf"{_WEEKDAY}{_DAYS}\s+(?P<month>{MONTH})(?P<year>)", _day_of_month),
    # In lower case where nothing follows that it could be a number of.
    rule(rf"{_WEEKDAY}(?P<month>{ANY_MONTH})\s+{_DAYS}(?P<year>){_CLEAR}", _day_of_month),
    rule(rf"{_WEEKDAY}{_DAYS}\s+(?P<month>{ANY_MONTH})(?P<year>){_CLEAR}", _day_of_month),
    rule(
        rf"(?:the\s+(?P<day>{DAY_ORDINAL})(?!\s+of\b){CLEAR_AFTER}|(?:the\s+)?(?P<of>{DAY_ORDINAL})"
        r"(?=\s+of\s+(?:(?:the|this|last|next|each)\s+)month\b))",
        _ordinal,
    ),
)
