"""Rules for days counted from today: yesterday, two weeks ago, last month, the past three days."""

import re
from datetime import date, timedelta

from memory_store.language.english.time.found import Found, Reference, Rule, fixed, rule
from memory_store.language.english.time.vocabulary import (
    COUNT,
    DAY_UNITS,
    MONTH_UNITS,
    TIME_OF_DAY,
    UNIT,
    WEEKDAY,
    count_of,
    weekday_number,
)
from memory_store.time.calendar import (
    DAY,
    add_months,
    month_of,
    one_day,
    quarter_of,
    week_of,
    weekend_of,
    year_of,
)
from memory_store.time.types import Precision, Span

_PRECISION = {
    "fortnight": Precision.WEEK,
    "night": Precision.DAY,
    **{unit: Precision(unit) for unit in ("day", "week", "month", "quarter", "year", "decade")},
}


def shifted(day: date, unit: str, count: float) -> date:
    """A day some units later (earlier when negative); a part of a month counts 30 days."""
    if unit in DAY_UNITS:
        return day + timedelta(days=round(DAY_UNITS[unit] * count))
    months = MONTH_UNITS[unit] * count
    whole = int(months)
    return add_months(day, whole) + timedelta(days=round((months - whole) * 30))


def half_unit(unit: str) -> timedelta:
    """Who says "two weeks ago" has rounded to whole weeks: half a unit on either side."""
    if unit in DAY_UNITS:
        return timedelta(days=(DAY_UNITS[unit] - 1) // 2)
    return timedelta(days=15 * MONTH_UNITS[unit] + MONTH_UNITS[unit] // 5)


def counted(today: date, words: str, unit: str, sign: int, extra: float = 0) -> Span:
    """The days some units away. Vague numbers bring their own slack, days are exact."""
    least, most = count_of(words)
    ends = sorted(shifted(today, unit, sign * (number + extra)) for number in (least, most))
    slack = half_unit(unit) if least == most else timedelta()
    slack = slack / 2 if extra else slack  # rounded to half units
    return Span(ends[0] - slack, ends[1] + slack, _PRECISION[unit])


def _singular(word: str) -> str:
    return word.lower().removesuffix("s")


_FIXED_DAYS = {
    "day before yesterday": -2,
    "night before last": -2,
    "yesterday": -1,
    "last night": -1,
    "last evening": -1,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
}


def _fixed_day(match: re.Match[str], reference: Reference) -> Found:
    name = re.sub(r"\s+", " ", match["name"].lower())
    offset = 0 if name.startswith("this") else _FIXED_DAYS[name]
    return fixed(match, one_day(reference.today + timedelta(days=offset)))


def _ago(match: re.Match[str], reference: Reference) -> Found:
    unit, today = _singular(match["unit"]), reference.today
    count = match["count"].lower()
    half = 0.5 if match["half1"] or match["half2"] else 0.0
    if count.startswith("half"):
        count, half = "one", -0.5
    if match["same"] or match["exact"]:
        return fixed(match, one_day(shifted(today, unit, -count_of(count)[1] - half)))
    span = counted(today, count, unit, -1, half)
    if match["weekday"]:
        span = _only(weekday_number(match["weekday"]), span) or span
    return fixed(match, span)


def _only(weekday: int, span: Span) -> Span | None:
    """The one such day of a span, if there is just one."""
    first = span.first + timedelta(days=(weekday - span.first.weekday()) % 7)
    return one_day(first) if first <= span.last < first + timedelta(days=7) else None


def _hours_ago(match: re.Match[str], reference: Reference) -> Found:
    return fixed(match, one_day(reference.today))


_AROUND = {"week": week_of, "month": month_of, "quarter": quarter_of, "year": year_of}


def _unit_around(unit: str, today: date, steps: int) -> Span:
    if unit == "weekend":
        return weekend_of(today + timedelta(weeks=steps))
    if unit == "decade":
        first = date(today.year // 10 * 10 + 10 * steps, 1, 1)
        return Span(first, add_months(first, 120) - DAY, Precision.DECADE)
    moved = shifted(today.replace(day=1), unit, steps) if unit != "week" else today
    return _AROUND[unit](moved if unit != "week" else today + timedelta(weeks=steps))


_STEPS = {"last": -1, "previous": -1, "past": -1, "this": 0, "next": 1, "coming": 1}


def _unit_word(match: re.Match[str], reference: Reference) -> Found:
    """The calendar unit before ("last week"), or up to today ("this past week": seven days)."""
    words, unit = match["which"].lower().split(), _singular(match["unit"])
    if words[-1] == "past" and unit != "weekend":
        return fixed(match, _window(reference.today, "one", unit, -1), rolling=True)
    steps = _STEPS[words[-1]]
    if words[-1] == "coming" and unit == "weekend":
        steps = 0
    return fixed(match, _unit_around(unit, reference.today, steps))


def _unit_skipping(match: re.Match[str], reference: Reference) -> Found:
    steps = -2 if match["back"] else 2
    if match["weekday"]:
        monday_based = weekday_number(match["weekday"]) - reference.today.weekday()
        days = monday_based - 14 if monday_based >= 0 else monday_based - 7
        days = days if match["back"] else monday_based + 14
        return fixed(match, one_day(reference.today + timedelta(days=days)))
    return fixed(match, _unit_around(_singular(match["unit"]), reference.today, steps))


def _window(today: date, count: str, unit: str, sign: int) -> Span:
    """A window from or up to today; a vague number counts at its most."""
    if unit == "weekend":
        other = weekend_of(today + timedelta(weeks=sign * count_of(count)[1]))
        return Span(min(today, other.first), max(today, other.last), Precision.SPAN)
    other_end = shifted(today, unit, sign * count_of(count)[1])
    return Span(min(today, other_end), max(today, other_end), Precision.SPAN)


def _rolling(match: re.Match[str], reference: Reference) -> Found:
    sign = 1 if match["which"].lower() in ("next", "coming") else -1
    unit, count = _singular(match["unit"]), match["count"] or "one"
    if unit == "hour":
        unit, count = "day", str(-(-count_of(count)[1] // 24))
    span = _window(reference.today, count, unit, sign)
    return Found(match.start("body"), match.end(), span, rolling=True)


def _ahead(match: re.Match[str], reference: Reference) -> Found | None:
    if match["in"] and not reference.cues.announces(match.start()):
        return None  # "I read it in two weeks" tells how long it took
    return fixed(match, counted(reference.today, match["count"], _singular(match["unit"]), 1))


def _weekends_ago(match: re.Match[str], reference: Reference) -> Found:
    weeks = count_of(match["count"])
    spans = [weekend_of(reference.today - timedelta(weeks=week)) for week in weeks]
    return fixed(match, Span(spans[1].first, spans[0].last, Precision.WEEKEND))


_MORE_OR_LESS = (
    r"(?:(?:about|around|roughly|approximately|almost|nearly|over|(?:a\s+little\s+)?more\s+than"
    r"|just|just\s+over|like|only)\s+)?"
)
_CALENDAR_UNIT = r"(?P<unit>week|weekend|month|quarter|year|decade)"
_WINDOW_UNIT = rf"(?P<unit>(?:{UNIT}|weekend|hour)s?)(?!\s+of\b|'s?\s+of\b)"

RELATIVE: tuple[Rule, ...] = (
    rule(
        r"(?:the\s+)?(?P<name>day\s+before\s+yesterday|night\s+before\s+last|day\s+after\s+tomorrow|yesterday|tomorrow"
        r"|today(?!'s)|tonight(?!'s)|last\s+(?:night|evening)(?!\s+of\b)"
        rf"|this\s+(?:morning|afternoon|evening))(?:\s+{TIME_OF_DAY})?",
        _fixed_day,
    ),
    rule(
        rf"(?:(?P<exact>exactly)\s+)?{_MORE_OR_LESS}(?P<count>half\s+an?|{COUNT})(?P<half1>\s+and\s+a\s+half)?\s+"
        rf"(?P<unit>{UNIT}s?)(?P<half2>\s+and\s+a\s+half)?\s+(?:ago|back|prior\s+to\s+today)"
        rf"(?:(?P<same>\s+today)|(?:\s+on)?\s+(?P<weekday>{WEEKDAY}))?",
        _ago,
    ),
    rule(rf"{_MORE_OR_LESS}(?:half\s+an|{COUNT})\s+(?:hour|minute|min|second)s?\s+ago", _hours_ago),
    rule(rf"{_MORE_OR_LESS}(?P<count>{COUNT})\s+weekends\s+ago", _weekends_ago),
    rule(
        rf"(?:the\s+)?(?:{_CALENDAR_UNIT}|(?P<weekday>{WEEKDAY}))\s+"
        r"(?:(?P<back>before\s+last)|after\s+next)",
        _unit_skipping,
    ),
    rule(
        r"(?P<which>last|this\s+past|the\s+past|this|next|the\s+previous"
        rf"|(?:this|the)\s+coming)\s+{_CALENDAR_UNIT}(?!\s+of\b)",
        _unit_word,
    ),
    rule(
        rf"(?:(?:the|these|this|my|our)\s+)?(?P<body>(?P<which>last|past|next|coming)\s+"
        rf"(?P<count>{COUNT})\s+" + _WINDOW_UNIT + ")",
        _rolling,
    ),
    rule(
        rf"(?:in|over|during|within|throughout|for)\s+(?P<body>the\s+(?P<which>last|past)(?P<count>)"
        rf"\s+{_WINDOW_UNIT})",
        _rolling,
    ),
    rule(
        rf"(?P<in>in\s+){_MORE_OR_LESS}(?P<count>{COUNT})\s+(?P<unit>{UNIT}s?)"
        r"(?:(?:'s|')\s+time|(?!'))(?!\s+(?:of|from)\b)",
        _ahead,
    ),
    rule(
        rf"(?P<in>)(?P<count>{COUNT})\s+(?P<unit>{UNIT}s?)\s+(?:from\s+(?:now|today)|hence)",
        _ahead,
    ),
)
