"""Spans of days: the types that the reading of dates returns in every language, and arithmetic.

All functions are pure; "today" is always an argument. How people name days depends on the language:
see `memory_store/language/`.

Weeks run from Monday to Sunday (ISO 8601), unless somebody says otherwise. Seasons are the
meteorological ones of the northern hemisphere (three whole months each, winter begins in December).
"""

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import Enum, StrEnum

from dateutil.relativedelta import relativedelta

from memory_store._types import Days


class Precision(StrEnum):
    """The unit an expression speaks in; `SPAN` is a range with two named ends or a rolling one."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    YEAR = "year"
    DECADE = "decade"
    SPAN = "span"


class TimeUse(StrEnum):
    """How the days that a question asks about affect the ranking."""

    OFF = "off"
    """They have no effect."""
    LIFT = "lift"
    """Rounds that were said then, or are about then, rank higher."""
    FILTER = "filter"
    """Only rounds said then, or about then, are found; all rounds if there are none."""


class Relation(StrEnum):
    """How the text uses the days it names: "in March" is ON, "since March" is SINCE.

    FOR marks an occasion ("a gift for Christmas"), which need not be the day of the event.
    """

    ON = "on"
    SINCE = "since"
    UNTIL = "until"
    BEFORE = "before"
    AFTER = "after"
    FOR = "for"


@dataclass(frozen=True, slots=True)
class Span:
    """Inclusive days with the unit they were named in."""

    first: date
    last: date
    precision: Precision

    def covers(self, other: "Span") -> bool:
        """Whether every day of `other` is one of these days."""
        return self.first <= other.first and other.last <= self.last


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """Words of a text that name days. `first` and `last` are the days named, inclusive. How "since"
    or "before" changes them is left to the reader of `relation`.

    `text` is the matched text with its preposition, `start` its offset in characters.
    `rolling` marks a window that ends or begins today ("the past two weeks").
    """

    first: date
    last: date
    precision: Precision
    text: str
    start: int
    relation: Relation = Relation.ON
    rolling: bool = False


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The days a question asks about, inclusive; an open end is None. `text` is their words."""

    first: date | None
    last: date | None
    precision: Precision
    text: str

    @property
    def days(self) -> Days:
        """The range without its unit and its words."""
        return Days(self.first, self.last)

    def in_weeks_from(self, weekday: int, today: date) -> "TimeRange":
        """The same calendar week, counted from today's, for a speaker whose weeks begin on another
        weekday than Monday (0). A range that is no calendar week stays as it is."""
        if self.precision is not Precision.WEEK or self.first is None or not weekday:
            return self
        weeks, days = divmod((self.first - week_of(today).first).days, 7)
        if days:
            return self  # These are any seven days, not a calendar week.
        first = today + timedelta(days=7 * weeks - (today.weekday() - weekday) % 7)
        return replace(self, first=first, last=first + timedelta(days=6))


DAY = timedelta(days=1)
SEASON_STARTS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}


def one_day(day: date) -> Span:
    """A span of a single day."""
    return Span(day, day, Precision.DAY)


def add_months(day: date, months: int) -> date:
    """The same day some months later (earlier if negative), or that month's last day if shorter."""
    later: date = day + relativedelta(months=months)
    return later


def months_from(year: int, month: int, count: int, precision: Precision) -> Span:
    """`count` whole months beginning with the given one."""
    first = date(year, month, 1)
    return Span(first, add_months(first, count) - DAY, precision)


def week_of(day: date) -> Span:
    """Monday to Sunday around a day."""
    monday = day - timedelta(days=day.weekday())
    return Span(monday, monday + timedelta(days=6), Precision.WEEK)


def weekend_of(day: date) -> Span:
    """Saturday and Sunday of the week around a day."""
    saturday = week_of(day).first + timedelta(days=5)
    return Span(saturday, saturday + DAY, Precision.WEEKEND)


def month_of(day: date) -> Span:
    """The calendar month around a day."""
    return months_from(day.year, day.month, 1, Precision.MONTH)


def quarter_of(day: date) -> Span:
    """The calendar quarter around a day."""
    return months_from(day.year, (day.month - 1) // 3 * 3 + 1, 3, Precision.QUARTER)


def year_of(day: date) -> Span:
    """The calendar year around a day."""
    return months_from(day.year, 1, 12, Precision.YEAR)


def season(name: str, year: int) -> Span:
    """A season by the year it begins in: winter 2022 ends in February 2023."""
    return months_from(year, SEASON_STARTS[name], 3, Precision.SEASON)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """The nth (from 1; -1 is the last) given weekday of a month; Monday is 0."""
    first, days = monthrange(year, month)
    dates = list(range(1 + (weekday - first) % 7, days + 1, 7))
    return date(year, month, dates[nth if nth < 0 else nth - 1])


class Which(Enum):
    """Which occurrence of recurring days is meant."""

    PAST = "begun already, the latest"
    FUTURE = "not over yet, the earliest"
    LAST = "over, the latest"
    THIS = "of the current week, month or year"
    NEXT = "yet to begin, the earliest; of a weekday, next week's"
    NEAREST = "now, or the fewest days away"


_AROUND = {Precision.WEEK: week_of, Precision.MONTH: month_of, Precision.YEAR: year_of}


@dataclass(frozen=True, slots=True)
class Recurring:
    """Days that recur each `period` (week, month or year); `near` lists them around a day."""

    near: Callable[[date], list[Span]]
    period: Precision

    def which(self, which: Which, today: date) -> Span | None:
        """The occurrence meant on a given day."""
        spans = self.near(today)
        if which is Which.PAST:
            return max((s for s in spans if s.first <= today), key=_first, default=None)
        if which is Which.LAST:
            return max((s for s in spans if s.last < today), key=_first, default=None)
        if which is Which.FUTURE:
            return min((s for s in spans if s.last >= today), key=_first, default=None)
        if which is Which.NEAREST:
            return min(spans, key=lambda s: max(s.first - today, today - s.last), default=None)
        if which is Which.THIS:
            now = (s for s in spans if s.first <= today <= s.last)
            return next(now, None) or self.within(_AROUND[self.period](today))
        if self.period is Precision.WEEK:
            return self.within(week_of(today + timedelta(days=7)))
        return min((s for s in spans if s.first > today), key=_first, default=None)

    def within(self, container: Span) -> Span | None:
        """The only occurrence that begins inside the container, if there is just one."""
        spans = [s for s in self.near(container.first) if container.covers(one_day(s.first))]
        return spans[0] if len(spans) == 1 else None

    def not_before(self, day: date) -> Span | None:
        """The earliest occurrence that begins on or after a day."""
        return min((s for s in self.near(day) if s.first >= day), key=_first, default=None)


def _first(span: Span) -> date:
    return span.first


def yearly(of_year: Callable[[int], Span | None]) -> Recurring:
    """Days that recur every year; a year without them (29 February) is skipped."""

    def near(day: date) -> list[Span]:
        years = range(max(1, day.year - 8), min(9998, day.year + 8) + 1)
        return [span for year in years if (span := of_year(year)) is not None]

    return Recurring(near, Precision.YEAR)


def monthly(day_of_month: int) -> Recurring:
    """A day of every month that has it."""

    def near(day: date) -> list[Span]:
        months = (month_of(add_months(day.replace(day=1), step)) for step in range(-3, 4))
        return [
            one_day(month.first.replace(day=day_of_month))
            for month in months
            if day_of_month <= month.last.day
        ]

    return Recurring(near, Precision.MONTH)


def weekly(weekday: int) -> Recurring:
    """A weekday (Monday is 0) of every week."""

    def near(day: date) -> list[Span]:
        base = week_of(day).first + timedelta(days=weekday)
        return [one_day(base + timedelta(weeks=step)) for step in range(-6, 7)]

    return Recurring(near, Precision.WEEK)


def weekends() -> Recurring:
    """Every weekend."""

    def near(day: date) -> list[Span]:
        return [weekend_of(day + timedelta(weeks=step)) for step in range(-6, 7)]

    return Recurring(near, Precision.WEEK)
