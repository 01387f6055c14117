"""Rules for days counted from today: yesterday, two weeks ago, last month, the past three days."""

from datetime import timedelta

from memory_store._spans import DAY, Precision, Span, Which, one_day, week_of, weekend_of, weekly
from memory_store.language.dates.found import Build, FoundDays, Rule, RuleMatch
from memory_store.language.dates.line import Line
from memory_store.language.dates.pack import pattern
from memory_store.language.dates.parts import (
    AROUND,
    count_of,
    counted,
    shifted,
    unit_around,
    window,
)

_STEPS = {"last": -1, "past": -1, "previous": -1, "last_after": -1, "this": 0}
_STEPS |= {"next": 1, "coming": 1, "next_after": 1, "next_either": 1}
_WHICH = {"last": Which.LAST, "past": Which.LAST, "previous": Which.LAST, "this": Which.THIS}
_WHICH |= {"coming": Which.FUTURE, "next": Which.NEXT}


def _single(m: RuleMatch) -> FoundDays | None:
    if m.line.kind(m.at("day") + 1, "possessive") and m.value("day")[0] == 0:
        return None
    number, unit = m.value("day")
    if m.line.words[m.at("day")].startswith("last ") and m.line.kind(m.end, "of"):
        return None
    return m.fixed(AROUND[unit](shifted(m.today, unit, number)))


def _ago(m: RuleMatch) -> FoundDays | None:
    line, unit, today, place = m.line, m.value("unit"), m.today, m.at("unit")
    least, most = count_of(m.value("count"))
    if line.kind(place, "hour", "ordinal"):
        return m.fixed(one_day(today))
    if line.kind(place, "weekday", "weekday_plural"):
        # The nth such day before today, today not counted: "two Fridays ago".
        latest = today - timedelta(days=(today.weekday() - unit) % 7 or 7)
        ends = (latest - timedelta(weeks=most - 1), latest - timedelta(weeks=least - 1))
        return m.fixed(Span(*ends, Precision.DAY))
    if unit == "weekend":
        spans = [weekend_of(today - timedelta(weeks=weeks)) for weeks in (most, least)]
        return m.fixed(Span(spans[0].first, spans[1].last, Precision.WEEKEND))
    half = 0.5 if line.kind(m.at("count"), "half_a") else -0.5 if m.has("half") else 0.0
    if m.has("exactly") or m.value("same") == (0, "day"):
        return m.fixed(one_day(shifted(today, unit, half - most)))
    span = counted(today, (least, most), unit, -1, -half)
    return m.fixed(_only(m.value("weekday"), span) if m.has("weekday") else span)


def _only(weekday: int, span: Span) -> Span:
    """The only such weekday of a span, if there is exactly one; else the span."""
    first = span.first + timedelta(days=(weekday - span.first.weekday()) % 7)
    return one_day(first) if first <= span.last < first + timedelta(days=7) else span


def _unit_skipping(m: RuleMatch) -> FoundDays | None:
    if m.value("unit") in ("day", "fortnight"):
        return None
    steps = -2 if m.line.kind(m.at("which"), "before_last") else 2
    if m.line.kind(m.at("unit"), "weekday"):
        from_today = m.value("unit") - m.today.weekday()
        back = 14 if from_today >= 0 else 7
        return m.fixed(one_day(m.today + timedelta(days=from_today + (14 if steps > 0 else -back))))
    return m.fixed(unit_around(m.value("unit"), m.today, steps))


def _picks(line: Line, place: int) -> str:
    return next(kind for kind in _STEPS if line.kind(place, kind))


def which_of(line: Line, place: int) -> Which:
    """Which occurrence the word at a place ("last", "next") chooses."""
    return _WHICH[_picks(line, place)]


def _unit_or_weekday(m: RuleMatch) -> FoundDays | None:
    """A calendar unit ("last week"), the seven days up to today ("this past week"), or a weekday
    ("last Friday")."""
    if m.has("which") == m.has("after"):
        return None
    place = m.last("which" if m.has("which") else "after")
    line, unit = m.line, m.value("unit")
    kind = _picks(line, place)
    english = line.pack.is_english
    if line.kind(m.at("unit"), "weekday", "weak_weekday"):
        # "sat" and "sun" may be other words.
        named = kind in ("last", "next") and line.is_clear(m.end)
        if line.kind(m.at("unit"), "weak_weekday") and not named:
            return None
        return _weekday_picked(m, kind)
    if line.kind(m.end, "of") and english:
        return None
    if kind == "past" and unit != "weekend":
        is_bare = place == m.start
        return None if is_bare else m.fixed(window(m.today, 1, unit, -1), rolling=True)
    if unit in ("day", "fortnight") or (not english and line.kind(m.start - 1, "an", "count")):
        return None
    if unit == "year" and not line.pack.spaced:
        return None
    steps = 0 if kind == "coming" and unit == "weekend" else _STEPS[kind]
    return m.fixed(unit_around(unit, m.today, steps))


def _weekday_picked(m: RuleMatch, kind: str) -> FoundDays | None:
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


def _rolling(m: RuleMatch) -> FoundDays | None:
    """A window such as "the past two weeks"; a vague number counts with the most it may mean."""
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
        window(m.today, most, unit, sign), start=m.at("which") - m.has("the"), rolling=True
    )


def _ahead(m: RuleMatch) -> FoundDays | None:
    line = m.line
    if line.kind(m.end, "of", "from"):
        return None
    if line.kind(m.end - 1, "single") and line.values[m.end - 1] != (0, "day"):
        return None
    if m.has("in") and not m.reading.announces(m.start):
        return None  # "I read it in two weeks" tells how long it took
    return m.fixed(counted(m.today, count_of(m.value("count")), m.value("unit"), 1))


_ABOUT = "(?:about|around|over)?"
_RULES: tuple[tuple[str, Build], ...] = (
    ("the? (?P<day>single) any_time?", _single),
    (
        f"(?P<exactly>exactly)? {_ABOUT} (?P<count>counted|half_a) (?P<half>and_half)?"
        "(?P<unit>any_unit|hour|ordinal|weekend|weekends|weekday|weekday_plural)"
        "(?P<half1>and_half)? ago (?:(?P<same>single)|on? (?P<weekday>weekday))?"
        "| ago_before (?P<count1>counted) (?P<unit1>unit) (?!of|that)",
        _ago,
    ),
    ("the? (?P<unit>unit|weekend|weekday) (?P<which>before_last|after_next)", _unit_skipping),
    (
        "(?P<which>last|this (?:past|coming)?|the? (?:past|previous|coming)|next|next_either)?"
        "(?P<unit>unit|weekend|any_weekday) any_time?"
        "(?P<after>last_after|next_after|next_either)?",
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
)
RELATIVE: tuple[Rule, ...] = tuple((pattern(rule), build) for rule, build in _RULES)
"""The patterns, and what a match of each means."""
