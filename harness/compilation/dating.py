"""The dates of an arranged history, in its order: evidence kept where it was, or by the paper's
rules for each type of question.

The paper's rules, as far as they can be told from a file: questions about one thing at any time are
asked at the end of ten days, in which all sessions lie; a history of a single day stays on it; of
what changes or is counted in time the evidence keeps its dates, and fillers lie between them or
within thirty days around.
"""

from datetime import datetime, timedelta

from harness.compilation.draws import Arranged, Draws
from harness.compilation.pool import Filler, Outline, PlacedSession
from harness.compilation.recipe import Recipe
from harness.datasets.longmemeval import date_text

_ANY_TIME = frozenset(
    (
        "single-session-user",
        "single-session-assistant",
        "single-session-preference",
        "multi-session",
    )
)
_WINDOW = timedelta(days=10)
_AFTER = timedelta(days=30)
_DAY = timedelta(days=1)


def dated(
    arranged: Arranged, outline: Outline, recipe: Recipe, draws: Draws
) -> list[PlacedSession]:
    """Every session with its date, in the order of the arrangement."""
    asked = outline.question.question_date
    if recipe.dates == "paper":
        if _is_one_day(outline):
            day = outline.began.replace(hour=0, minute=0)
            last = day + _DAY - timedelta(minutes=1)
            return _between(arranged, day, min(asked, last) if asked > day else last, draws)
        if outline.question.question_type in _ANY_TIME:
            first = asked.replace(hour=0, minute=0) - _WINDOW
            return _anew(arranged, first, asked, draws)
    dates = [session.date for session in arranged.evidence] or [asked]
    first = (min(dates) - recipe.lead).replace(hour=0, minute=0)
    latest = asked if recipe.dates == "kept" else min(asked, max(dates) + _AFTER)
    return _between(arranged, first, latest, draws)


def _is_one_day(outline: Outline) -> bool:
    """Whether the history that there was is one of a single day."""
    days = {session.date.date() for session in (*outline.evidence, *outline.fillers)}
    return len(days) == 1 and bool(outline.fillers)


def _between(
    arranged: Arranged, first: datetime, last: datetime, draws: Draws
) -> list[PlacedSession]:
    """Evidence at its dates, the fillers of each gap between its neighbours."""
    placed: list[PlacedSession] = []
    bounds = [session.date for session in arranged.evidence]
    for number, gap in enumerate(arranged.gaps):
        low = bounds[number - 1] if number else min([first, *bounds])
        high = bounds[number] if number < len(bounds) else max([last, *bounds])
        dates = sorted(draws.minute(filler.content.key, low, high) for filler in gap)
        placed += [_placed(filler, when) for filler, when in zip(gap, dates, strict=True)]
        placed += arranged.evidence[number : number + 1]
    return placed


def _anew(arranged: Arranged, first: datetime, last: datetime, draws: Draws) -> list[PlacedSession]:
    """New dates for all sessions, evidence too."""
    order = arranged.in_order()
    dates = sorted(draws.minute(item.content.key, first, last) for item in order)
    return [_placed(item, when) for item, when in zip(order, dates, strict=True)]


def _placed(item: Filler | PlacedSession, when: datetime) -> PlacedSession:
    return PlacedSession(item.session_id, when, date_text(when), item.content)
