"""What a rule finds in a line before its surroundings are read."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from memory_store.language.dates.line import Line
from memory_store.language.dates.verbs import Cues
from memory_store.time.calendar import DAY, Recurring, Which, add_months
from memory_store.time.types import Precision, Relation, Span

# A season away.
_CLOSE = timedelta(days=92)
# Kinds of words before a day, or before a longer span, that make it a date.
_BOUNDS = frozenset("since until before after by from around".split())
ANCHORS_OF_DAYS = _BOUNDS | {"on", "for"}
ANCHORS_OF_SPANS = _BOUNDS | {"in", "during", "throughout", "over"}
ANCHORS_OF_WEEKENDS = (_BOUNDS - {"by", "from", "around"}) | {"over", "on", "at", "during", "for"}
ANCHORS_OF_OCCASIONS = (_BOUNDS - {"from"}) | {"on", "at", "over", "during", "for", "celebrate"}
NEVER: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """A stretch of a line and the days it names.

    `span` is None for words that only look like a date (a habit, a title): they keep other rules
    away. `recurring` says that the span was picked among many and may still be narrowed by its
    surroundings ("March" by "of last year"). `needs` are the kinds of words that must stand before
    it ("in", "since"): without one of them it names no days; None when it does on its own.
    `occasion` marks holidays.
    """

    start: int
    end: int
    span: Span | None
    recurring: Recurring | None = None
    needs: frozenset[str] | None = None
    occasion: bool = False
    rolling: bool = False
    relation: Relation = Relation.ON
    looks_back: bool = False


@dataclass
class Reading:
    """A line and what its verbs tell."""

    line: Line

    @property
    def today(self) -> date:
        """The day that the text was said on."""
        return self.line.today

    @cached_property
    def cues(self) -> Cues:
        """What the verbs tell."""
        return Cues(self.line)

    def which(self, place: int) -> Which:
        """Whether the text looks back or ahead there."""
        return Which.FUTURE if self.cues.looks_ahead(place) else Which.PAST

    def chosen(self, recurring: Recurring, place: int) -> Which:
        """Which one the text means there. Of days that come again every year, who leaves the year
        out means the nearest, unless a verb says otherwise; one of another clause only where the
        nearest is far."""
        if recurring.period is not Precision.YEAR:
            return self.which(place)
        ahead = self.cues.tense(place)
        if ahead is None:
            nearest = recurring.which(Which.NEAREST, self.today)
            if (
                nearest is None
                or max(nearest.first - self.today, self.today - nearest.last) > _CLOSE
            ):
                ahead = self.cues.tense_around(place)
        return Which.NEAREST if ahead is None else Which.FUTURE if ahead else Which.PAST

    def picked(
        self,
        start: int,
        end: int,
        recurring: Recurring,
        needs: frozenset[str] | None = None,
        occasion: bool = False,
    ) -> Found | None:
        """One of the days that come again, by the tense of the text."""
        span = recurring.which(self.chosen(recurring, start), self.today)
        return Found(start, end, span, recurring, needs, occasion) if span else None


DAY_UNITS = {"day": 1, "night": 1, "week": 7, "fortnight": 14}
MONTH_UNITS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_PRECISION = {"fortnight": Precision.WEEK, "night": Precision.DAY}


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


def counted(today: date, ends: tuple[int, int], unit: str, sign: int, extra: float = 0) -> Span:
    """The days some units away. Vague numbers bring their own slack, days are exact."""
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
