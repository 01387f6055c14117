"""The nouns of dates in text: a span of days, an expression that names one, a question's range."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from memory_store.types import Days


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
    """What the days that a question asks about do to the ranking."""

    OFF = "off"
    """Nothing."""
    LIFT = "lift"
    """What was said then, or is about then, ranks higher."""
    FILTER = "filter"
    """Only what was said then, or is about then, is found; everything where that is nothing."""


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
    """Words of a text that name days. `first` and `last` are inclusive and are the days named;
    what "since" or "before" makes of them is left to the reader of `relation`.

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
    """The days a question asks about, inclusive; an open end is None. `text` is what said so."""

    first: date | None
    last: date | None
    precision: Precision
    text: str

    @property
    def days(self) -> Days:
        """The range without its provenance."""
        return Days(self.first, self.last)
