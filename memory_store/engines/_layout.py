"""What engines share: the layout of points, scopes as plain values, and watchers of writes."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

import numpy as np

from memory_store._types import Days, Held
from memory_store.embedding.encoder import Matrix
from memory_store.engines._engine import Point, UserScope, WriteWatcher

KEYS = "keys"
"""The multivector of dense keys; a point is as near as its best key."""
WORDS = "words"
"""The sparse vector of plain term counts."""
USER = "user_id"
"""The payload field that says whose a round is."""
SAID = "session_date"
"""The payload field that says when a round was said."""
TURNS = "turn_ids"
"""The payload field that says which turns a round was made of."""
REPEATS = "repeats"
"""The payload field that names the rounds whose words an answer repeats."""
ASKS, ENDS_ASKING = "asks", "ends_asking"
"""The payload fields that say that a round does nothing but ask, and that it ends with a question
which the next speaker may answer."""
READING = "reading"
"""The payload field with what the user's side may mean, as read when the round was written."""
LABELS, EXPIRES = "labels", "expires_at"
"""The payload fields of the caller's own metadata, as terms, and of when a round may go."""
REACH = "reach"
"""The payload field that says how far a round may go; it is missing if that is anywhere."""
PERSON = "person"
"""The payload field with `Round.person`: the user of a space, or who spoke in a shared one."""
CLAIMED_BY, CLAIMED_UNTIL = "claimed_by", "claimed_until"
"""The payload fields of a claim, which are no part of the record."""
CONFLICTS, OPEN, TO_ASK = "conflicts", "open", "to ask"
"""The payload field of what the user is to settle in a round, and its values: its facts contradict
others, or the user is to be asked whether one still holds."""
PINNED = "pinned"
"""The payload field that says that the user pinned a round, and its value."""
INDEXED_WORDS = tuple(
    f"session_id enrichment slots {REPEATS} {CONFLICTS} {LABELS} {REACH} {PERSON} {PINNED}".split()
)
INDEXED_TIMES = ("event_days", EXPIRES)
"""The payload fields that engines index, beside `USER`, which keeps tenants apart, and `SAID`, by
which points are laid out."""
IDENTITY_ID = str(uuid.UUID(int=0))
"""The id of the point that holds the identity. It has no user, so no scope can match it."""


def matches(scope: UserScope) -> dict[str, str]:
    """The payload fields that a point in scope must have, with their exact values; the user's is
    always among them."""
    fields = {USER: scope.user_id}
    if scope.session_id is not None:
        fields["session_id"] = scope.session_id
    return fields


def choices(scope: UserScope) -> list[tuple[str, list[str]]]:
    """Pairs of a payload field and values, of which a point in scope must have at least one."""
    wanted = {
        "slots": scope.slots,
        "enrichment": scope.states,
        REPEATS: scope.repeats,
        CONFLICTS: (OPEN,) if scope.in_conflict else (TO_ASK,) if scope.to_ask else None,
        PINNED: (PINNED,) if scope.pinned else None,
        REACH: scope.beyond.closer if scope.beyond else None,
        PERSON: (scope.person,) if scope.person is not None else None,
    }
    named = [(field, list(map(str, of))) for field, of in wanted.items() if of is not None]
    return named + [(LABELS, list(terms)) for terms in scope.labels]


def exclusions(scope: UserScope) -> list[tuple[str, list[str]]]:
    """Pairs of a payload field and values, of which a point in scope must have none."""
    return [(REACH, list(map(str, scope.up_to.closer)))] if scope.up_to.closer else []


def ranges(scope: UserScope) -> dict[str, Days]:
    """The payload fields that hold instants, and the days in which one of them must lie."""
    wanted = {SAID: scope.days, "event_days": scope.event_days}
    return {field: days for field, days in wanted.items() if days != Days()}


def instants(days: Days) -> tuple[datetime | None, datetime | None]:
    """The first moment of the days, and the first moment after them; None where open."""
    after = days.last + timedelta(days=1) if days.last and days.last < date.max else None
    return _midnight(days.first, days.zone), _midnight(after, days.zone)


class Divided(NamedTuple):
    """Points to write: those that must already exist, and those that must not."""

    replaced: Sequence[Point]
    new: Sequence[Point]


def divided(points: Sequence[Point], over: Held) -> Divided:
    """Divide points into those that are named in `over` and all others."""
    named = [point for point in points if point.id in over]
    return Divided(named, [point for point in points if point.id not in over])


def to_matrix(rows: Sequence[Sequence[float]] | None) -> Matrix:
    """The keys of a point as an engine returns them; no rows if it has none."""
    return np.asarray(rows or [], dtype=np.float32)


def _midnight(day: date | None, zone: tzinfo) -> datetime | None:
    if day is None:
        return None
    try:
        return datetime.combine(day, time(), zone).astimezone(UTC)
    except OverflowError:
        return None  # An end of the calendar is as good as an open end.


WrittenIds = Mapping[str, Sequence[str] | None]
"""Ids of points by user; None if any of the user's points may be meant."""


class WriteWatchers:
    """All that watch one engine."""

    def __init__(self) -> None:
        self._all: list[WriteWatcher] = []

    def add(self, watcher: WriteWatcher) -> None:
        """Tell this watcher too from now on."""
        self._all.append(watcher)

    def remove(self, watcher: WriteWatcher) -> None:
        """Stop telling this watcher."""
        self._all.remove(watcher)

    @contextmanager
    def told_of(self, written: WrittenIds) -> Iterator[None]:
        """Tell of the points written inside, even on failure, as a failed write may have changed
        some of them."""
        try:
            yield
        finally:
            for user_id, ids in written.items():
                for watcher in self._all:
                    watcher.written(user_id, ids)

    def found(self, user_id: str, versions: Mapping[int, int]) -> None:
        """Tell in which versions a search found a user's points."""
        for watcher in self._all:
            watcher.found(user_id, versions)


def of_points(points: Sequence[Point]) -> WrittenIds:
    """The ids of these points, by user."""
    by_user: dict[str, list[str]] = {}
    for point in points:
        by_user.setdefault(point.payload[USER], []).append(point.id)
    return by_user


def of_scope(scope: UserScope) -> WrittenIds:
    """The ids that a scope names, by user."""
    return {scope.user_id: scope.ids}
