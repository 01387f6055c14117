"""The rules by which words and numbers name days, written in kinds of words: one grammar for all
languages. Weeks begin on Monday; names of days that come again look back unless the verb looks
ahead.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from memory_store.language.dates.found import (
    ANCHORS_OF_DAYS,
    ANCHORS_OF_OCCASIONS,
    ANCHORS_OF_SPANS,
    ANCHORS_OF_WEEKENDS,
    NEVER,
    Found,
    Reading,
    count_of,
    counted,
    decade_of,
    shifted,
)
from memory_store.language.dates.line import Line
from memory_store.language.dates.pack import pattern
from memory_store.time.calendar import (
    DAY,
    Recurring,
    Which,
    month_of,
    monthly,
    months_from,
    one_day,
    quarter_of,
    season,
    week_of,
    weekend_of,
    weekends,
    weekly,
    year_of,
    yearly,
)
from memory_store.time.types import Precision, Span

_YEARS = timedelta(days=500)
_DENOMINATORS = {2, 3, 4, 5, 6, 8, 10, 12, 16}
_AROUND = {"week": week_of, "month": month_of, "quarter": quarter_of, "year": year_of}
_AROUND |= {"day": one_day, "weekend": weekend_of}


class _Match:
    """A match of a rule: the kinds and values of its groups."""

    def __init__(self, match: re.Match[str], reading: Reading) -> None:
        self.start, self.end = match.span()
        self.reading, self.line, self.today = reading, reading.line, reading.today
        self._match = match
        # Of two ways to say a thing the groups of the second bear a number.
        self._places = {
            name.rstrip("123"): match.start(name)
            for name, text in match.groupdict().items()
            if text
        }

    def at(self, group: str) -> int:
        """The place of a group; -1 where it did not match."""
        return self._places.get(group, -1)

    def last(self, group: str) -> int:
        """The place of the last token of a group."""
        return self._places[group] + len(self._match.groupdict()[group]) - 1

    def has(self, group: str) -> bool:
        """Whether a group matched anything."""
        return group in self._places

    def value(self, group: str) -> Any:
        """What the first word of a group stands for."""
        return self.line.values[self.at(group)] if self.has(group) else None

    def fixed(self, span: Span | None, start: int | None = None, rolling: bool = False) -> Found:
        """Days that nothing around the words can change."""
        return Found(self.start if start is None else start, self.end, span, rolling=rolling)

    def picked(self, recurring: Recurring, needs: frozenset[str] | None = None) -> Found | None:
        """One of the days that come again."""
        return self.reading.picked(self.start, self.end, recurring, needs)


def _nothing(m: _Match) -> Found:
    return m.fixed(None)


def _working_days(m: _Match) -> Found | None:
    """Monday to Friday, which is no week that one could name."""
    is_whole = m.line.values[m.start] == 0 and m.value("last") >= 4
    return m.fixed(None) if is_whole else None


def _span(year: int, month: int, first: int, last: int) -> Span | None:
    try:
        begin, end = date(year, month, first), date(year, month, last)
    except ValueError:
        return None
    if begin > end:
        return None
    return Span(begin, end, Precision.DAY if begin == end else Precision.SPAN)


def _written_in_numbers(m: _Match) -> Found | None:
    if m.has("short"):
        return _short(m)
    year, month, day = m.value("date")
    as_typed = m.line.words[m.at("date")]
    if not as_typed.startswith(str(year)) or len(str(year)) < 4:
        first_is_day = month > 12 or not m.line.pack.is_english
        month, day = (day, month) if first_is_day else (month, day)
    if year < 100:
        year += 2000
        if year > m.today.year + 1:
            return None
    span = _span(year, month, day, day)
    return m.fixed(span) if span else None


def _short(m: _Match) -> Found | None:
    month, day = m.value("short")
    if not m.line.is_clear(m.end) or _span(2000, month, day, day) is None:
        return None
    # 1/2 and 3/4 are fractions more often than days.
    like_a_fraction = month <= day and day in _DENOMINATORS
    needs = frozenset({"on"}) if like_a_fraction else ANCHORS_OF_DAYS
    return m.picked(yearly(lambda year: _span(year, month, day, day)), needs)


def _day_of_month(m: _Match) -> Found | None:
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


def _is_a_month(m: _Match) -> bool:
    """Whether the name beside a number is a month: "march 4th" and not "march 3 miles"."""
    line = m.line
    if m.has("year") or m.has("month_mark"):
        return True
    is_weak, ordinal = (
        line.kind(m.at("month"), "weak_month"),
        line.kind(m.at("first"), "ordinal_number"),
    )
    day_first = m.at("first") < m.at("month")
    if ordinal:
        return not (is_weak and day_first and not m.has("of")) or line.is_clear(m.end)
    if day_first and not is_weak:
        return True
    if line.kind(m.end, "thing", "of") or line.text[line.ends[m.end - 1] :][:1] in (":", "/"):
        return False
    at_a_time = line.kind(m.end + line.kind(m.end, "comma"), "at", "clock", "day_number")
    return not is_weak or line.is_clear(m.end) or at_a_time


def _month_by_number(m: _Match, month: int) -> Found | None:
    """A month that a language without names of months gives by its number."""

    def of_year(year: int) -> Span:
        return months_from(year, month, 1, Precision.MONTH)

    return m.fixed(of_year(m.value("year"))) if m.has("year") else m.picked(yearly(of_year))


def _on(weekday: int, days: Recurring, today: date) -> Span | None:
    """The nearest that begins on the weekday, where it is not years away."""
    fitting = [span for span in days.near(today) if span.first.weekday() == weekday]
    nearest = min(fitting, key=lambda span: abs(span.first - today), default=None)
    return nearest if nearest and abs(nearest.first - today) < _YEARS else None


def _day_alone(m: _Match) -> Found | None:
    """The 15th, or the 15th of a month that another find names; of nothing else."""
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


def _single(m: _Match) -> Found | None:
    if m.line.kind(m.at("day") + 1, "possessive") and m.value("day")[0] == 0:
        return None
    number, unit = m.value("day")
    if m.line.words[m.at("day")].startswith("last ") and m.line.kind(m.end, "of"):
        return None
    return m.fixed(_AROUND[unit](shifted(m.today, unit, number)))


def _ago(m: _Match) -> Found | None:
    unit, today, count = m.value("unit"), m.today, count_of(m.value("count"))
    half = 0.5 if m.has("half") or m.has("halves") else 0.0
    if m.line.kind(m.at("count"), "half_a"):
        count, half = (1, 1), -0.5
    place = m.at("unit")
    if m.line.kind(place, "hour", "ordinal"):
        return m.fixed(one_day(today))
    if m.line.kind(place, "weekday", "weekday_plural"):
        return _weekdays_ago(m, count)
    if m.line.kind(place, "weekend", "weekends"):
        spans = [weekend_of(today - timedelta(weeks=week)) for week in count]
        return m.fixed(Span(spans[1].first, spans[0].last, Precision.WEEKEND))
    same = m.has("same") and m.value("same") == (0, "day")
    if same or m.has("exactly"):
        return m.fixed(one_day(shifted(today, unit, -count[1] - half)))
    span = counted(today, count, unit, -1, half)
    if m.has("weekday"):
        span = _only(m.value("weekday"), span) or span
    return m.fixed(span)


def _weekdays_ago(m: _Match, count: tuple[int, int]) -> Found:
    """The nth such day before today, today not counted: "two Fridays ago"."""
    back = (m.today.weekday() - m.value("unit")) % 7 or 7
    days = [m.today - timedelta(days=back + 7 * (number - 1)) for number in count]
    return m.fixed(Span(days[1], days[0], Precision.DAY))


def _only(weekday: int, span: Span) -> Span | None:
    """The one such day of a span, if there is just one."""
    first = span.first + timedelta(days=(weekday - span.first.weekday()) % 7)
    return one_day(first) if first <= span.last < first + timedelta(days=7) else None


def unit_around(unit: str, today: date, steps: int) -> Span:
    """The calendar unit around a day, or some before or after it."""
    if unit in ("week", "weekend"):
        return _AROUND[unit](today + timedelta(weeks=steps))
    if unit == "decade":
        return decade_of(date(today.year // 10 * 10 + 10 * steps, 1, 1))
    return _AROUND[unit](shifted(today.replace(day=1), unit, steps))


def _unit_skipping(m: _Match) -> Found | None:
    if m.value("unit") in ("day", "fortnight"):
        return None
    steps = -2 if m.line.kind(m.at("which"), "before_last") else 2
    if m.line.kind(m.at("unit"), "weekday"):
        from_today = m.value("unit") - m.today.weekday()
        back = 14 if from_today >= 0 else 7
        return m.fixed(one_day(m.today + timedelta(days=from_today + (14 if steps > 0 else -back))))
    return m.fixed(unit_around(m.value("unit"), m.today, steps))


_STEPS = {"last": -1, "past": -1, "previous": -1, "last_after": -1, "this": 0}
_STEPS |= {"next": 1, "coming": 1, "next_after": 1, "next_either": 1}
_WHICH = {"last": Which.LAST, "past": Which.LAST, "previous": Which.LAST, "this": Which.THIS}
_WHICH |= {"coming": Which.FUTURE, "next": Which.NEXT}


def _picks(line: Line, place: int) -> str:
    return next(kind for kind in _STEPS if line.kind(place, kind))


def which_of(line: Line, place: int) -> Which:
    """Which one the word at a place picks: "last", "next"."""
    return _WHICH[_picks(line, place)]


def _unit_or_weekday(m: _Match) -> Found | None:
    """The calendar unit before ("last week"), up to today ("this past week": seven days), or a
    weekday: "last Friday"."""
    if m.has("which") == m.has("after"):
        return None
    place = m.last("which" if m.has("which") else "after")
    line, unit = m.line, m.value("unit")
    kind = _picks(line, place)
    english = line.pack.is_english
    if line.kind(m.at("unit"), "weekday", "weak_weekday"):
        if line.kind(m.at("unit"), "weak_weekday") and not line.is_clear(m.end):
            return None
        return _weekday_picked(m, kind)
    if line.kind(m.end, "of") and english:
        return None
    if kind == "past" and unit != "weekend":
        is_bare = place == m.start
        return None if is_bare else m.fixed(_window(m.today, 1, unit, -1), rolling=True)
    if unit in ("day", "fortnight") or (not english and line.kind(m.start - 1, "an", "count")):
        return None
    if unit == "year" and not line.pack.spaced:
        return None
    steps = 0 if kind == "coming" and unit == "weekend" else _STEPS[kind]
    return m.fixed(unit_around(unit, m.today, steps))


def _weekday_picked(m: _Match, kind: str) -> Found | None:
    days = weekly(m.value("unit"))
    steps = _STEPS[kind]
    if not m.line.pack.is_english:
        if not steps or not m.line.pack.spaced:
            span = days.within(week_of(m.today + timedelta(weeks=steps)))
        else:
            span = days.which(
                *((Which.LAST, m.today) if steps < 0 else (Which.FUTURE, m.today + DAY))
            )
    else:
        span = days.which(_WHICH[kind], m.today)
    return m.fixed(span) if span else None


def _window(today: date, count: int, unit: str, sign: int) -> Span:
    """A window from or up to today."""
    if unit == "weekend":
        other = weekend_of(today + timedelta(weeks=sign * count))
        return Span(min(today, other.first), max(today, other.last), Precision.SPAN)
    other_end = shifted(today, unit, sign * count)
    return Span(min(today, other_end), max(today, other_end), Precision.SPAN)


def _rolling(m: _Match) -> Found | None:
    """The past two weeks; a vague number counts at its most."""
    if m.line.kind(m.end, "of") or (
        m.line.kind(m.end, "possessive") and m.line.kind(m.end + 1, "of")
    ):
        return None
    sign = 1 if m.line.kind(m.at("which"), "next", "coming") else -1
    unit, most = m.value("unit"), count_of(m.value("count"))[1]
    if m.line.kind(m.at("unit"), "hour", "ordinal"):
        if not m.line.words[m.at("unit")].startswith("hour"):
            return None
        unit, most = "day", -(-most // 24)
    return m.fixed(
        _window(m.today, most, unit, sign), start=m.at("which") - m.has("the"), rolling=True
    )


def _ahead(m: _Match) -> Found | None:
    line = m.line
    if line.kind(m.end, "of", "from"):
        return None
    if line.kind(m.end - 1, "single") and line.values[m.end - 1] != (0, "day"):
        return None
    if m.has("in") and not m.reading.cues.announces(m.start):
        return None  # "I read it in two weeks" tells how long it took
    return m.fixed(counted(m.today, count_of(m.value("count")), m.value("unit"), 1))


def _weekday_alone(m: _Match) -> Found | None:
    line = m.line
    clear, timed = line.is_clear(m.end), m.has("time")
    weak_name = line.kind(m.at("weekday"), "weak_weekday")
    if weak_name and not (clear and line.kind(m.start - 1, "on", "by", "until")):
        return None
    which = m.reading.which(m.start)
    # Today is never called by its weekday's name.
    day = m.today + DAY if which is Which.FUTURE else m.today
    recurring = weekly(m.value("weekday"))
    span = recurring.which(which if which is Which.FUTURE else Which.LAST, day)
    needs = ANCHORS_OF_DAYS if not (clear or timed) or _is_determined(m) else None
    if not line.pack.is_english:
        needs = NEVER
    return Found(m.start, m.end, span, recurring, needs)


_DETERMINERS = frozenset("the a an my our his your their one another 1st 2nd 3rd".split())


def _is_determined(m: _Match) -> bool:
    """Whether the words before say that it is one of many: "the Friday meeting", "a Friday"."""
    line, place = m.line, m.start - 1
    if place < 0:
        return False
    before = line.words[place]
    if before in _DETERMINERS or line.kind(place, "possessive"):
        return True
    return place > 0 and line.kind(place - 1, "an") and before[0].isalnum()


def _holiday(m: _Match) -> Found | None:
    if m.line.kind(m.end, "no_holiday"):
        return None
    needs = None if "of" in m.line.words[m.at("name")].split() else ANCHORS_OF_OCCASIONS
    return m.reading.picked(m.start, m.end, m.value("name"), needs, occasion=True)


def _months(first: int, count: int, precision: Precision) -> Recurring:
    return yearly(lambda year: months_from(year, first, count, precision))


# After these words even "may" and "march" are months.
_BEFORE_A_WEAK_MONTH = ("in", "since", "until", "early", "late", "middle")


def _month(m: _Match) -> Found | None:
    line = m.line
    if line.kind(m.end, "day_number"):
        return None
    before = m.start - 1 - line.kind(m.start - 1, "hyphen")
    if line.kind(m.at("name"), "weak_month") and not line.kind(before, *_BEFORE_A_WEAK_MONTH):
        return None
    recurring = _months(m.value("name"), 1, Precision.MONTH)
    return m.picked(recurring, ANCHORS_OF_SPANS)


def _season(m: _Match) -> Found | None:
    if m.line.kind(m.end, "no_season", "units"):
        return None
    name = m.value("name")
    # "in summer" is any summer, "in the summer" one of them.
    return m.picked(
        yearly(lambda year: season(name, year)), ANCHORS_OF_SPANS if m.has("the") else NEVER
    )


def _quarter(m: _Match) -> Found | None:
    number = m.value("name") if not m.line.kind(m.at("name"), "last") else 4
    if not 1 <= number <= 4 or (m.end - m.at("name") > 1 and m.line.values[m.end - 1] != "quarter"):
        return None
    return m.picked(_months(3 * number - 2, 3, Precision.QUARTER), ANCHORS_OF_SPANS)


def _year(m: _Match) -> Found | None:
    line = m.line
    in_a_number = _goes_on(line, m.end, m.end + 1) or _goes_on(line, m.start - 1, m.start - 2)
    if in_a_number or not line.is_clear(m.end):
        return None
    return Found(m.start, m.end, year_of(date(m.value("name"), 1, 1)), needs=ANCHORS_OF_SPANS)


def _goes_on(line: Line, mark: int, number: int) -> bool:
    """Whether a mark joins a year to another number: "2019-2020"."""
    if not (0 <= number < len(line.words) and line.words[mark] in ("-", "/", ".", ",")):
        return False
    joined = line.adjoins(mark) and line.adjoins(max(mark, number)) and line.adjoins(mark + 1)
    return joined and any(map(str.isdecimal, line.words[number]))


def _decade(m: _Match) -> Found | None:
    year = m.value("name")
    if m.line.words[m.at("name")].isalpha() and not m.has("the"):
        return None
    if year < 100:
        # "the 90s" are the latest that have begun.
        year += (m.today.year - year) // 100 * 100
    return Found(
        m.start, m.end, decade_of(date(year, 1, 1)), needs=frozenset({"in", "during", "since"})
    )


def _the_unit(m: _Match) -> Found | None:
    """The current one; it counts only as in "the end of the month"."""
    unit = m.value("name")
    if unit == "weekend":
        return m.picked(weekends(), ANCHORS_OF_WEEKENDS)
    if unit not in _AROUND or unit == "day":
        return None
    return Found(m.start, m.end, _AROUND[unit](m.today), needs=NEVER)


Build = Callable[[_Match], Found | None]
_DAYS = "(?P<first>any_day) (?:any_until the? (?P<last>any_day))?"
_YEAR = "(?:(?:comma|hyphen)? of? (?P<year>year))?"
_WEEKDAY = "(?:(?<!picking) (?P<weekday>any_weekday) comma? the? | the)?"
_LIST = "(?:(?:weekday|weekday_plural) (?:comma and?|and|mark)){0,7}"
_ABOUT = "(?:about|around|over)?"
_RULES: tuple[tuple[str, Build], ...] = (
    (
        "each (?:other|ordinal|count|vague|day_number)?"
        "(?:any_unit|any_time|times_of_day|weekend|weekends|time|"
        f"{_LIST} (?:weekday|weekday_plural) (?:any_time|times_of_day|nights)?)"
        f"| {_LIST} weekday_plural (?!ago) (?:(?:comma|and) weekday_plural){{0,7}}"
        "| (?:(?:on|at) the?)? weekends (?!ago) | weekday (?:times_of_day|nights) | nothing",
        _nothing,
    ),
    ("any_weekday (?:to|until|hyphen|dash) (?P<last>any_weekday|weekday_plural)", _working_days),
    ("(?P<date>date) | (?P<short>month_day)", _written_in_numbers),
    (f"{_WEEKDAY} (?P<month>any_month) the? {_DAYS} {_YEAR}", _day_of_month),
    (f"{_WEEKDAY} {_DAYS} (?P<of>of|hyphen)? (?P<month>any_month) {_YEAR}", _day_of_month),
    (
        "(?:(?P<year>year) unit)? (?P<month>day_number) (?P<month_mark>month_mark)"
        "(?:(?P<first>day_number) (?P<mark>day_mark|unit))?",
        _day_of_month,
    ),
    ("(?P<the>the)? (?P<day>ordinal_number)", _day_alone),
    ("the? (?P<day>single) any_time?", _single),
    (
        f"(?P<exactly>exactly)? {_ABOUT} (?P<count>counted|half_a) (?P<half>and_half)?"
        "(?P<unit>any_unit|hour|ordinal|weekend|weekends|weekday|weekday_plural)"
        "(?P<halves>and_half)? ago (?:(?P<same>single)|on? (?P<weekday>weekday))?"
        "| ago_before (?P<count1>counted) (?P<unit1>unit) (?!of|that)",
        _ago,
    ),
    ("the? (?P<unit>unit|weekend|weekday) (?P<which>before_last|after_next)", _unit_skipping),
    (
        "(?P<which>last|this (?:past|coming)?|the? (?:past|previous|coming)|next|next_either)?"
        "(?P<unit>unit|weekend|any_weekday) any_time? (?P<after>last_after|next_after|next_either)?",
        _unit_or_weekday,
    ),
    (
        "(?P<which>last|past|next|coming) (?P<count>counted)"
        "(?P<unit>any_unit|weekend|weekends|hour|ordinal)"
        "| (?:in|over|during|within|throughout|for) (?P<the>the) (?P<which1>last|past)"
        "(?P<unit1>any_unit|weekend|hour)",
        _rolling,
    ),
    (
        f"(?P<in>in) {_ABOUT} (?P<count>counted) (?P<unit>any_unit) (?:(?:possessive|mark)? time)?"
        "| (?P<count1>counted) (?P<unit1>any_unit) (?:from (?:now|single)|hence)"
        "| ahead (?P<count2>counted) (?P<unit2>unit)"
        "| (?P<count3>counted) (?P<unit3>unit) ahead_after",
        _ahead,
    ),
    ("(?P<weekday>any_weekday) (?P<time>any_time)?", _weekday_alone),
    ("(?P<name>holiday) any_time?", _holiday),
    ("(?P<name>any_month) possessive?", _month),
    ("(?P<the>the)? (?P<name>season)", _season),
    ("(?P<name>quarter) | the? (?P<name1>ordinal|last) unit", _quarter),
    ("(?P<name>year)", _year),
    ("(?P<the>the)? (?P<name>decade)", _decade),
    ("the (?P<name>unit|weekend)", _the_unit),
)
RULES = tuple((pattern(rule), build) for rule, build in _RULES)
"""The patterns, and what a match of each means."""


def named(reading: Reading) -> list[Found]:
    """What the rules find: the leftmost finds, the longest of those that begin together; the order
    of rules breaks ties."""
    found = []
    for rule, build in RULES:
        for match in rule.finditer(reading.line.letters):
            try:
                item = build(_Match(match, reading))
            except (OverflowError, ValueError):
                continue  # "3000 years ago": outside the calendar
            if item is not None:
                found.append(item)
    out: list[Found] = []
    for item in sorted(found, key=lambda item: (item.start, -item.end)):
        if not out or item.start >= out[-1].end:
            out.append(item)
    return out
