"""The rules by which words and numbers name days, written in kinds of words: one grammar for all
languages. Weeks begin on Monday; names of recurring days look back unless the verb looks ahead.
"""

import re
from datetime import date, timedelta

from memory_store._spans import (
    DAY,
    Precision,
    Recurring,
    Span,
    Which,
    monthly,
    months_from,
    season,
    weekends,
    weekly,
    year_of,
    yearly,
)
from memory_store.language.dates.found import (
    ANCHORS_OF_DAYS,
    ANCHORS_OF_OCCASIONS,
    ANCHORS_OF_SPANS,
    ANCHORS_OF_WEEKENDS,
    NEVER,
    Build,
    FoundDays,
    ReadLine,
    Rule,
    RuleMatch,
)
from memory_store.language.dates.pack import pattern
from memory_store.language.dates.parts import AROUND, decade_of
from memory_store.language.dates.relative import RELATIVE
from memory_store.language.languages import word_list

_YEARS = timedelta(days=500)
_JOINS = frozenset("-/.,")
_DENOMINATORS = {2, 3, 4, 5, 6, 8, 10, 12, 16}


def _nothing(m: RuleMatch) -> FoundDays:
    return m.fixed(None)


def _span(year: int, month: int, first: int, last: int) -> Span | None:
    try:
        begin, end = date(year, month, first), date(year, month, last)
    except ValueError:
        return None
    if begin > end:
        return None
    return Span(begin, end, Precision.DAY if begin == end else Precision.SPAN)


def _in_numbers(m: RuleMatch) -> FoundDays | None:
    year, month, day = m.value("date")
    span = _span(year, month, day, day)
    typed_short = m.line.words[m.at("date")][-3:-2] == "/"
    return m.fixed(span) if span and not (typed_short and year > m.today.year + 1) else None


def _short(m: RuleMatch) -> FoundDays | None:
    month, day = m.value("date")
    if not m.line.is_clear(m.end) or _span(2000, month, day, day) is None:
        return None
    # 1/2 and 3/4 are fractions more often than days.
    like_a_fraction = month <= day and day in _DENOMINATORS
    needs = frozenset({"on"}) if like_a_fraction else ANCHORS_OF_DAYS
    return m.picked(yearly(lambda year: _span(year, month, day, day)), needs)


def _day_of_month(m: RuleMatch) -> FoundDays | None:
    month = m.value("month")
    first = m.value("first")
    last = m.value("last") or first
    if not _is_a_month(m) or (m.has("month_mark") and month > 12):
        return None
    if m.line.kind(m.at("mark"), "unit") and m.value("mark") != "day":
        return None
    if not first:
        return _month_by_number(m, month)
    if m.has("year"):
        span = _span(m.value("year"), month, first, last)
        return m.fixed(span) if span else None
    days = yearly(lambda year: _span(year, month, first, last))
    if m.has("weekday") and (span := _on(m.value("weekday"), days, m.today)):
        return m.fixed(span)
    return m.picked(days)


def _is_a_month(m: RuleMatch) -> bool:
    """Whether the name beside a number is a month: "march 4th" and not "march 3 miles"."""
    line = m.line
    if m.has("year") or m.has("month_mark"):
        return True
    is_weak, day_first = line.kind(m.at("month"), "weak_month"), m.at("first") < m.at("month")
    if line.kind(m.at("first"), "ordinal_number"):
        return not (is_weak and day_first and not m.has("of")) or line.is_clear(m.end)
    if day_first and not is_weak:
        return True
    if line.kind(m.end, "thing", "of") or line.text[line.ends[m.end - 1] :][:1] in (":", "/"):
        return False
    return not is_weak or line.is_clear(m.end) or line.kind(m.end, "clock")


def _month_by_number(m: RuleMatch, month: int) -> FoundDays | None:
    """A month in a language that names months by their numbers."""

    def of_year(year: int) -> Span:
        return months_from(year, month, 1, Precision.MONTH)

    return m.fixed(of_year(m.value("year"))) if m.has("year") else m.picked(yearly(of_year))


def _on(weekday: int, days: Recurring, today: date) -> Span | None:
    """The nearest occurrence that begins on the weekday, unless it is years away."""
    fitting = [span for span in days.near(today) if span.first.weekday() == weekday]
    nearest = min(fitting, key=lambda span: abs(span.first - today), default=None)
    return nearest if nearest and abs(nearest.first - today) < _YEARS else None


def _day_alone(m: RuleMatch) -> FoundDays | None:
    """A day of any month: "the 15th", or "the 15th of" a month that another find names."""
    line = m.line
    if line.kind(m.end, "of"):
        place = m.end + 1
        while line.kind(place, "the", "this", "last", "next", "each"):
            place += 1
        if not (line.kind(place, "unit") and line.values[place] == "month"):
            return None
    elif not m.has("the") or not line.is_clear(m.end):
        return None
    return m.picked(monthly(m.value("day")), ANCHORS_OF_DAYS)


def _weekday_alone(m: RuleMatch) -> FoundDays | None:
    line = m.line
    clear, timed = line.is_clear(m.end), m.has("time")
    weak_name = line.kind(m.at("weekday"), "weak_weekday")
    if weak_name and not (clear and line.kind(m.start - 1, "on", "by", "until")):
        return None
    which = m.reading.which(m.start)
    # Nobody calls today by the name of its weekday.
    day = m.today + DAY if which is Which.FUTURE else m.today
    recurring = weekly(m.value("weekday"))
    span = recurring.which(which if which is Which.FUTURE else Which.LAST, day)
    needs = ANCHORS_OF_DAYS if not (clear or timed) or _is_determined(m) else None
    if not line.pack.is_english:
        needs = NEVER
    return FoundDays(m.start, m.end, span, recurring, needs)


_DETERMINERS = frozenset(word_list("english", "time.determiners"))


def _is_determined(m: RuleMatch) -> bool:
    """Whether the words before say that it is one of many: "the Friday meeting", "a Friday"."""
    line, place = m.line, m.start - 1
    if place < 0:
        return False
    before = line.words[place]
    if before in _DETERMINERS or line.kind(place, "possessive"):
        return True
    return place > 0 and line.kind(place - 1, "an") and before[0].isalnum()


def _holiday(m: RuleMatch) -> FoundDays | None:
    if m.line.kind(m.end, "no_holiday"):
        return None
    needs = None if "of" in m.line.words[m.at("holiday")].split() else ANCHORS_OF_OCCASIONS
    return m.reading.picked(m.start, m.end, m.value("holiday"), needs, occasion=True)


def _months(first: int, count: int, precision: Precision) -> Recurring:
    return yearly(lambda year: months_from(year, first, count, precision))


# After these words even "may" and "march" are months.
_BEFORE_A_WEAK_MONTH = ("in", "since", "until", "early", "late", "middle")


def _month(m: RuleMatch) -> FoundDays | None:
    line = m.line
    if line.kind(m.end, "day_number"):
        return None
    before = m.start - 1 - line.kind(m.start - 1, "hyphen")
    if line.kind(m.at("month"), "weak_month") and not line.kind(before, *_BEFORE_A_WEAK_MONTH):
        return None
    recurring = _months(m.value("month"), 1, Precision.MONTH)
    return m.picked(recurring, ANCHORS_OF_SPANS)


def _season(m: RuleMatch) -> FoundDays | None:
    if m.line.kind(m.end, "no_season", "units"):
        return None
    name = m.value("season")
    # "in summer" is any summer, "in the summer" one of them.
    return m.picked(
        yearly(lambda year: season(name, year)), ANCHORS_OF_SPANS if m.has("the") else NEVER
    )


def _quarter(m: RuleMatch) -> FoundDays | None:
    number = m.value("quarter") if not m.line.kind(m.at("quarter"), "last") else 4
    if not 1 <= number <= 4 or (
        m.end - m.at("quarter") > 1 and m.line.values[m.end - 1] != "quarter"
    ):
        return None
    return m.picked(_months(3 * number - 2, 3, Precision.QUARTER), ANCHORS_OF_SPANS)


def _year(m: RuleMatch) -> FoundDays | None:
    line, text = m.line, m.line.text
    start, end = line.starts[m.start], line.ends[m.end - 1]
    # "2019-2020", "3/2019"
    beside = (text[end : end + 2], text[max(0, start - 2) : start][::-1])
    if any(two[:1] in _JOINS and two[1:].isdecimal() for two in beside):
        return None
    span = year_of(date(m.value("year"), 1, 1))
    return FoundDays(m.start, m.end, span, needs=ANCHORS_OF_SPANS) if line.is_clear(m.end) else None


def _decade(m: RuleMatch) -> FoundDays | None:
    year = m.value("decade")
    if m.line.words[m.at("decade")].isalpha() and not m.has("the"):
        return None
    if year < 100:
        # "the 90s" are the latest such decade that has begun.
        year += (m.today.year - year) // 100 * 100
    return FoundDays(
        m.start, m.end, decade_of(date(year, 1, 1)), needs=frozenset({"in", "during", "since"})
    )


def _the_unit(m: RuleMatch) -> FoundDays | None:
    """The current unit. It counts only with a part, as in "the end of the month"."""
    unit = m.value("unit")
    if unit == "weekend":
        return m.picked(weekends(), ANCHORS_OF_WEEKENDS)
    if unit not in AROUND or unit == "day":
        return None
    return FoundDays(m.start, m.end, AROUND[unit](m.today), needs=NEVER)


_BY_NAME: dict[str, Build] = {
    "weekday": _weekday_alone,
    "holiday": _holiday,
    "month": _month,
    "season": _season,
    "quarter": _quarter,
    "year": _year,
    "decade": _decade,
    "unit": _the_unit,
}


def _by_name(m: RuleMatch) -> FoundDays | None:
    return next(build(m) for name, build in _BY_NAME.items() if m.has(name))


_DAYS = "(?P<first>any_day) (?:any_until the? (?P<last>any_day))?"
_YEAR = "(?:(?:comma|hyphen)? of? (?P<year>year))?"
_BOTH = "(?P<first>any_day) and the? (?P<last>any_day)"
_BOTH_AFTER, _YEAR_AFTER = (re.sub("(?<=[a-z])>", "1>", rule) for rule in (_BOTH, _YEAR))
_WEEKDAY = "(?:(?<!picking) (?P<weekday>any_weekday) comma? the? | the)?"
_LIST = "(?:(?:weekday|weekday_plural) (?:comma and?|and|mark)){0,7}"
_RULES: tuple[tuple[str, Build], ...] = (
    (
        "each (?:other|ordinal|count|vague|day_number)?"
        "(?:any_unit|any_time|times_of_day|weekend|weekends|time|"
        f"{_LIST} (?:weekday|weekday_plural) (?:any_time|times_of_day|nights)?)"
        f"| {_LIST} weekday_plural (?!ago) (?:(?:comma|and) weekday_plural){{0,7}}"
        "| (?:(?:on|at) the?)? weekends (?!ago) | weekday (?:times_of_day|nights) | nothing",
        _nothing,
    ),
    ("(?P<date>date)", _in_numbers),
    ("(?P<date>month_day)", _short),
    (
        f"between the? {_BOTH} (?P<of>of)? (?P<month>any_month) {_YEAR}"
        f"| between (?P<month1>any_month) the? {_BOTH_AFTER} {_YEAR_AFTER}",
        _day_of_month,
    ),
    (f"{_WEEKDAY} (?P<month>any_month) the? {_DAYS} {_YEAR}", _day_of_month),
    (f"{_WEEKDAY} {_DAYS} (?P<of>of|hyphen)? (?P<month>any_month) {_YEAR}", _day_of_month),
    (
        "(?:(?P<year>year) unit)? (?P<month>day_number) (?P<month_mark>month_mark)"
        "(?:(?P<first>day_number) (?P<mark>day_mark|unit))?",
        _day_of_month,
    ),
    ("(?P<the>the)? (?P<day>ordinal_number)", _day_alone),
    (
        "(?P<weekday>any_weekday) (?P<time>any_time)? | (?P<holiday>holiday) any_time?"
        "| (?P<month>any_month) possessive? | (?P<the>the)? (?P<season>season)"
        "| (?P<quarter>quarter) | the? (?P<quarter1>ordinal|last) unit | (?P<year>year)"
        "| (?P<the1>the)? (?P<decade>decade) | the (?P<unit>unit|weekend)",
        _by_name,
    ),
)
NAMED: tuple[Rule, ...] = tuple((pattern(rule), build) for rule, build in _RULES)


def named(reading: ReadLine) -> list[FoundDays]:
    """The finds of all rules without overlaps: the leftmost, and of those that begin together the
    longest; the order of rules breaks ties."""
    found = []
    for rule, build in (*RELATIVE, *NAMED):
        for match in rule.finditer(reading.line.letters):
            try:
                item = build(RuleMatch(match, reading))
            except (OverflowError, ValueError):
                continue  # "3000 years ago" is outside the calendar
            if item is not None:
                found.append(item)
    out: list[FoundDays] = []
    for item in sorted(found, key=lambda item: (item.start, -item.end)):
        if not out or item.start >= out[-1].end:
            out.append(item)
    return out
