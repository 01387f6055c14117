"""One compiled history: a question's evidence, and fillers drawn and dated around it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, count

from harness.datasets.longmemeval import date_text
from harness.lab.compilation.pool import Filler, Outline, PlacedSession, Pool
from harness.lab.compilation.recipe import Arranged, Draws, Recipe, arrange
from harness.text import characters_of, tokens_of

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
    """Give every session a date, by the recipe's rules, in the order of the arrangement."""
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
    days = {session.date.date() for session in (*outline.evidence, *outline.fillers)}
    return len(days) == 1 and bool(outline.fillers)


def _between(
    arranged: Arranged, first: datetime, last: datetime, draws: Draws
) -> list[PlacedSession]:
    """Evidence keeps its dates; the fillers of a gap get dates between the evidence around it."""
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
    order = arranged.in_order()
    dates = sorted(draws.minute(item.content.key, first, last) for item in order)
    return [_placed(item, when) for item, when in zip(order, dates, strict=True)]


def _placed(item: Filler | PlacedSession, when: datetime) -> PlacedSession:
    return PlacedSession(item.session_id, when, date_text(when), item.content)


@dataclass(frozen=True, slots=True)
class History:
    """A compiled history, oldest session first, and where its sessions come from."""

    sessions: tuple[PlacedSession, ...]
    evidence: int
    own_fillers: int
    drawn_fillers: int

    def depths(self, evidence_keys: frozenset[bytes]) -> list[float]:
        """The share of the fillers' characters before each evidence session."""
        passed, found = 0, []
        for session in self.sessions:
            if session.content.key in evidence_keys:
                found.append(passed)
            else:
                passed += session.content.characters
        return [before / passed for before in found] if passed else []


def compose(outline: Outline, pool: Pool, recipe: Recipe) -> History:
    """Make the history of one question; the recipe's size is between `smallest` and `largest`."""
    draws = Draws(recipe.seed, outline.question.question_id)
    own, drawn = _chosen(outline, pool, recipe, draws)
    if recipe.arranges:
        depth = recipe.depth if isinstance(recipe.depth, float) else None
        fillers = [*(Filler(one.session_id, one.content) for one in own), *drawn]
        arranged = arrange(outline.evidence, fillers, depth, draws)
        placed = dated(arranged, outline, recipe, draws)
    else:
        placed = [*outline.evidence, *own, *_scattered(drawn, outline, recipe, draws)]
    labels = {session.session_id for session in outline.evidence}
    keys = {session.content.key for session in outline.evidence}
    named = _named_apart(placed, labels, keys)
    sessions = sorted(named, key=lambda session: session.date)
    return History(tuple(sessions), len(outline.evidence), len(own), len(drawn))


def smallest(outline: Outline, recipe: Recipe) -> int:
    """The least size of the history of a question, in the unit of the recipe: its evidence."""
    return _size([session.content.characters for session in outline.evidence], recipe)


def largest(outline: Outline, pool: Pool, recipe: Recipe) -> int:
    """The greatest size of a question's history in the recipe's unit, without repeated texts."""
    own = _own_fillers(outline) if recipe.keep_fillers else []
    contents = [session.content for session in (*outline.evidence, *own)]
    contents += [filler.content for filler in _foreign(outline, pool)]
    return _size([content.characters for content in contents], recipe)


def _size(characters: Sequence[int], recipe: Recipe) -> int:
    return tokens_of(sum(characters)) if recipe.sessions is None else len(characters)


def _chosen(
    outline: Outline, pool: Pool, recipe: Recipe, draws: Draws
) -> tuple[list[PlacedSession], list[Filler]]:
    """The question's own fillers first, then fillers of other questions, while there is room."""
    own = draws.order(_own_fillers(outline)) if recipe.keep_fillers else []
    drawn = draws.order(_foreign(outline, pool))
    if recipe.sessions is not None:
        room = recipe.sessions - len(outline.evidence)
    else:
        contents = [one.content for one in own] + [one.content for one in drawn]
        sizes = [content.characters for content in contents]
        taken = sum(session.content.characters for session in outline.evidence)
        room = _nearest(sizes, characters_of(recipe.tokens or 0) - taken)
    own = own[:room]
    return own, drawn[: room - len(own)]


def _nearest(sizes: Sequence[int], room: int) -> int:
    """How many of the first sizes have a sum as near as possible to `room`."""
    passed = 0
    for number, size in enumerate(sizes):
        if passed + size / 2 > room:
            return number
        passed += size
    return len(sizes)


def _scattered(
    drawn: Sequence[Filler], outline: Outline, recipe: Recipe, draws: Draws
) -> Iterator[PlacedSession]:
    """Give fillers a date at any minute from the history's beginning to the question."""
    asked = outline.question.question_date
    first_evidence = min([asked, *(session.date for session in outline.evidence)])
    begin = min(outline.began, first_evidence - recipe.lead)
    begin = begin.replace(hour=0, minute=0)
    for filler in drawn:
        when = draws.minute(filler.content.key, begin, asked)
        yield PlacedSession(filler.session_id, when, date_text(when), filler.content)


def _own_fillers(outline: Outline) -> list[PlacedSession]:
    """The question's own fillers, each text once and none that repeats its evidence."""
    taken = {session.content.key for session in outline.evidence}
    by_key = {session.content.key: session for session in reversed(outline.fillers)}
    return [session for key, session in by_key.items() if key not in taken]


def _foreign(outline: Outline, pool: Pool) -> list[Filler]:
    """The fillers that are not the question's own. Where people are named, these are fillers about
    other people; elsewhere, fillers without anything about what is asked.
    """
    own = {session.content.key for session in (*outline.evidence, *outline.fillers)}
    kept_out = own | pool.conflicts(outline)
    return [
        filler
        for filler in pool.fillers
        if filler.content.key not in kept_out and outline.speakers.isdisjoint(filler.speakers)
    ]


def _named_apart(
    sessions: Iterable[PlacedSession], labels: set[str], evidence: set[bytes]
) -> Iterator[PlacedSession]:
    """Give a filler a new id if its id is taken. The ids of evidence are labels and stay."""
    taken = set(labels)
    for session in sessions:
        if session.content.key in evidence:
            yield session
            continue
        names = (f"{session.session_id}_{number}" for number in count(2))
        name = next(name for name in chain([session.session_id], names) if name not in taken)
        taken.add(name)
        yield replace(session, session_id=name)
