"""How many points the users who asked last have. The engine counts them one by one.

A write changes a number by what it adds, which is counted before and behind it among its own ids;
a deletion lets go of all numbers. This process alone writes, so none is ever wrong.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from memory_store.engines.engine import Point, Scope
from memory_store.engines.watching import of_points

Count = Callable[[Scope], int]
"""Counts the points in a scope, exactly and at once."""
# Some 150 bytes each.
_MOST_USERS = 10_000


class Tally:
    """The number of points of each user who asked last."""

    def __init__(self, count: Count, most_users: int = _MOST_USERS) -> None:
        self._count = count
        self._most_users = most_users
        self._of: OrderedDict[str, int] = OrderedDict()

    def of(self, user_id: str) -> int:
        """How many points the user has."""
        if user_id not in self._of:
            self._of[user_id] = self._count(Scope(user_id))
        self._of.move_to_end(user_id)
        while len(self._of) > self._most_users:
            self._of.popitem(last=False)
        return self._of[user_id]

    @contextmanager
    def following(self, points: Sequence[Point]) -> Iterator[None]:
        """Keep the numbers right over a write of these points, which waits for nothing. After one
        that fails the users are counted anew."""
        known = {
            Scope(user_id, ids=tuple(ids or ())): self._of.pop(user_id)
            for user_id, ids in of_points(points).items()
            if user_id in self._of
        }
        others = {scope: total - self._count(scope) for scope, total in known.items()}
        yield
        for scope, total in others.items():
            self._of[scope.user_id] = total + self._count(scope)

    def clear(self) -> None:
        """Count every user anew."""
        self._of.clear()
