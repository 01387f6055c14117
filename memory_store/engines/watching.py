"""Who keeps something of an engine's points in memory, and is told when it may no longer hold."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from memory_store.engines.engine import Point, Scope, Watcher
from memory_store.engines.layout import USER

Written = Mapping[str, Sequence[str] | None]
"""Ids of points by user; None where any of the user's may be among them."""


class Watchers:
    """All that watch one engine."""

    def __init__(self) -> None:
        self._all: list[Watcher] = []

    def add(self, watcher: Watcher) -> None:
        """Tell this one, too, from now on."""
        self._all.append(watcher)

    @contextmanager
    def told_of(self, written: Written) -> Iterator[None]:
        """Tell of what is written within, however it ends: what failed may have changed some."""
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


def of_points(points: Sequence[Point]) -> Written:
    """These points, whosever they are."""
    by_user: dict[str, list[str]] = {}
    for point in points:
        by_user.setdefault(point.payload[USER], []).append(point.id)
    return by_user


def of_scope(scope: Scope) -> Written:
    """What lies in a scope."""
    return {scope.user_id: scope.ids}
