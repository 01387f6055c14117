"""Rules for months, seasons, quarters, years and decades by name, each without a day."""

import re
from collections.abc import Callable
from datetime import date

from memory_store.language.english.time.found import (
    ANCHORS_OF_SPANS,
    NEVER,
    Found,
    Reference,
    Rule,
    picked,
    rule,
)
from memory_store.language.english.time.vocabulary import (
    CLEAR_AFTER,
    MONTH,
    ORDINALS,
    YEAR,
    month_number,
)
from memory_store.time.calendar import (
    DAY,
    Recurring,
    add_months,
    month_of,
    months_from,
    quarter_of,
    season,
    week_of,
    weekend_of,
    year_of,
    yearly,
)
from memory_store.time.types import Precision, Span

_SEASON = r"(?P<the>the\s+)?(?P<season>spring|summer|autumn|fall|winter)"


_NOT_A_SEASON = (
    r"(?:months|season|weather|clothes|coats?|semester|term|break|cleaning|collection|apart|asleep)"
)


def _months(first: int, count: int, precision: Precision) -> Recurring:
    return yearly(lambda year: months_from(year, first, count, precision))


BY_MONTH = {number: _months(number, 1, Precision.MONTH) for number in range(1, 13)}
_BY_QUARTER = {number: _months(3 * number - 2, 3, Precision.QUARTER) for number in range(1, 5)}


def _season_of(name: str) -> Callable[[int], Span]:
    return lambda year: season(name, year)


BY_SEASON = {
    name: yearly(_season_of(name)) for name in ("spring", "summer", "fall", "autumn", "winter")
}


def _month(match: re.Match[str], reference: Reference) -> Found | None:
    return picked(match, BY_MONTH[month_number(match["month"])], reference, needs=ANCHORS_OF_SPANS)


def _season(match: re.Match[str], reference: Reference) -> Found | None:
    # "in summer" is any summer, "in the summer" one of them.
    needs = ANCHORS_OF_SPANS if match["the"] else NEVER
    return picked(match, BY_SEASON[match["season"].lower()], reference, needs=needs)


def _quarter(match: re.Match[str], reference: Reference) -> Found | None:
    digit = match["digit"]
    number = int(digit) if digit else ORDINALS[match["ordinal"].lower()]
    return picked(match, _BY_QUARTER[number % 5], reference, needs=ANCHORS_OF_SPANS)


def _year(match: re.Match[str], reference: Reference) -> Found:
    span = year_of(date(int(match["year"]), 1, 1))
    return Found(match.start(), match.end(), span, needs=ANCHORS_OF_SPANS)


_TENS = {
    word: 10 * number
    for number, word in enumerate(
        "twenties thirties forties fifties sixties seventies eighties nineties".split(), 2
    )
}


def _decade(match: re.Match[str], reference: Reference) -> Found:
    if match["word"]:
        year = 1900 + _TENS[match["word"].lower()]
    else:
        tens = int(match["tens"])
        century = match["century"]
        if century is None:
            # "the 90s" are the latest that have begun.
            century = str((reference.today.year - tens) // 100)
        year = int(century) * 100 + tens
    first = date(year, 1, 1)
    span = Span(first, add_months(first, 120) - DAY, Precision.DECADE)
    return Found(match.start(), match.end(), span, needs=frozenset({"in", "during", "since"}))


_CURRENT = {
    "week": week_of,
    "weekend": weekend_of,
    "month": month_of,
    "quarter": quarter_of,
    "year": year_of,
}


def _the_unit(match: re.Match[str], reference: Reference) -> Found:
    """The current one; it counts only as in "the end of the month"."""
    span = _CURRENT[match["unit"].lower()](reference.today)
    return Found(match.start(), match.end(), span, needs=NEVER)


MONTH_RULES: tuple[Rule, ...] = (
    rule(rf"(?P<month>{MONTH})(?:'s)?(?!\s+\d{{1,2}}(?!\d))", _month),
    # After these words even "may" and "march" are months.
    rule(
        r"(?:(?<=\bin\s)|(?<=\bsince\s)|(?<=\bearly\s)|(?<=\blate\s)|(?<=\bmid[\s-])|(?<=\buntil\s))"
        r"(?P<month>may|march)(?!\s+\d{1,2}(?!\d))",
        _month,
    ),
    rule(
        rf"{_SEASON}(?!\s+{_NOT_A_SEASON}\b)",
        _season,
    ),
    rule(
        r"(?:q(?P<digit>[1-4])|(?:the\s+)?(?P<ordinal>first|second|third|fourth|last)\s+quarter)",
        _quarter,
    ),
    rule(rf"(?<!\d[-/.,])(?P<year>{YEAR})(?:{CLEAR_AFTER})(?![-/.,]\d|\s*%)", _year),
    rule(
        rf"(?:the\s+)?(?:(?P<century>19|20)|')?(?P<tens>[1-9]0)'?s|the\s+(?P<word>{'|'.join(_TENS)})",
        _decade,
    ),
    rule(r"the\s+(?P<unit>week|weekend|month|quarter|year)", _the_unit),
)
