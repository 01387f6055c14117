"""Whose turn it is: of all who wait the one who has had the least."""

import math
from collections.abc import Mapping


class Shares:
    """What each of several owners has had of something that is used by one at a time.

    Fair queueing by virtual time (Demers, Keshav and Shenker 1989): who comes back after a while
    counts as having had little less than those who are served now, so that nobody can save up
    more than a credit, and nobody is made to wait for what he had long ago.
    """

    def __init__(self, credit: float) -> None:
        self._credit = credit
        self._had: dict[str, float] = {}
        self._now = 0.0

    def next_of(self, wanted: Mapping[str, float]) -> str:
        """The owner who would have had the least with what is wanted next; of equals the first."""
        chosen = min(wanted, key=lambda owner: self._counted(owner) + wanted[owner])
        self._now = max(self._now, self._counted(chosen))
        return chosen

    def charge(self, owner: str, amount: float) -> None:
        """Count what an owner has had."""
        self._had[owner] = self._counted(owner) + amount
        if len(self._had) > _MANY:
            least = self._now - self._credit
            self._had = {one: had for one, had in self._had.items() if had > least}

    def _counted(self, owner: str) -> float:
        return max(self._had.get(owner, -math.inf), self._now - self._credit)


# Owners who are remembered although they count like anybody new.
_MANY = 1000
