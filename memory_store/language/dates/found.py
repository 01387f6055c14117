"""What a rule finds in a line before its surroundings are read."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from memory_store.language.dates.line import Line
from memory_store.language.dates.verbs import Cues
from memory_store.time.calendar import Recurring, Which
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


class Match:
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


Build = Callable[[Match], Found | None]
Rule = tuple[re.Pattern[str], Build]
"""A pattern over lines, and what a match of it means; None when it means nothing after all."""
