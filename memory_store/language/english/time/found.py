"""What a rule finds before its surroundings are read, and how rules are written."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from memory_store.language.english.time.tense import Cues
from memory_store.time.calendar import Recurring, Which
from memory_store.time.types import Precision, Relation, Span

# How far before a find the words may begin that say more of it, in characters.
WINDOW = 48
# A season away.
_CLOSE = timedelta(days=92)
# Words before a day, or before a longer span, that make it a date.
_BOUNDS = frozenset("since until till before after by from around".split())
ANCHORS_OF_DAYS = _BOUNDS | {"on", "for"}
ANCHORS_OF_SPANS = _BOUNDS | {"in", "during", "throughout", "over"}
ANCHORS_OF_OCCASIONS = (_BOUNDS - {"from"}) | {"on", "at", "over", "during", "for", "celebrate"}
NEVER: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """A stretch of text and the days it names.

    `span` is None for words that only look like a date (a habit, a title): they keep other rules
    away. `recurring` says that the span was picked among many and may still be narrowed by its
    surroundings ("March" by "of last year"). `needs` lists the words that must stand before it
    ("in", "since"): without one of them it names no days; None when it does on its own.
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


@dataclass(frozen=True, slots=True)
class Reference:
    """The text (straight apostrophes) and the day it was said on."""

    text: str
    today: date
    cues: Cues

    def which(self, position: int) -> Which:
        """Whether the text looks back or ahead there."""
        return Which.FUTURE if self.cues.looks_ahead(position) else Which.PAST


Build = Callable[[re.Match[str], Reference], Found | None]


class Rule(NamedTuple):
    """A pattern and what a match of it means; None when it means nothing after all."""

    pattern: re.Pattern[str]
    build: Build


def rule(pattern: str, build: Build) -> Rule:
    """A rule over whole words, in any case unless the pattern says otherwise."""
    return Rule(re.compile(rf"(?<![\w$€£#]){pattern}(?!\w)", re.I), build)


def fixed(match: re.Match[str], span: Span | None, *, rolling: bool = False) -> Found:
    """Days that nothing around the words can change."""
    return Found(match.start(), match.end(), span, rolling=rolling)


def chosen(recurring: Recurring, position: int, reference: Reference) -> Which:
    """Which one the text means there. Of days that come again every year, who leaves the year out
    means the nearest, unless a verb says otherwise; one of another clause only where the nearest is
    far."""
    if recurring.period is not Precision.YEAR:
        return reference.which(position)
    ahead = reference.cues.tense(position)
    if ahead is None:
        nearest = recurring.which(Which.NEAREST, reference.today)
        if nearest is None or not _is_close(nearest, reference.today):
            ahead = reference.cues.tense_around(position)
    return Which.NEAREST if ahead is None else Which.FUTURE if ahead else Which.PAST


def _is_close(span: Span, today: date) -> bool:
    return max(span.first - today, today - span.last) <= _CLOSE


def picked(
    match: re.Match[str],
    recurring: Recurring,
    reference: Reference,
    which: Which | None = None,
    *,
    needs: frozenset[str] | None = None,
    occasion: bool = False,
) -> Found | None:
    """One of the days that come again: the one asked for, else by the tense of the text."""
    span = recurring.which(which or chosen(recurring, match.start(), reference), reference.today)
    if span is None:
        return None
    still_open = recurring if which is None else None
    return Found(match.start(), match.end(), span, still_open, needs=needs, occasion=occasion)
