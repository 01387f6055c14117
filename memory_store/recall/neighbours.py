"""What a round gains from those beside it: a conversation stays with its subject for a while.

Both gains are a share of how much nearer to the query the other round is. So no round passes the
one it gains from by this alone, and sessions, which rank by their best round, keep their order.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from memory_store.recall.remembered import Place
from memory_store.recall.weighting import Column, Rows

# The next round counts in full, the one after it by half.
_SHARES = {1: 1.0, 2: 0.5}


class Neighbours:
    """Which of some rounds stand beside each other in their sessions; a row for each round.

    `sessions` numbers the session of each.
    """

    def __init__(self, places: Sequence[Place], sessions: Rows) -> None:
        self._places = places
        self._asked = any(place.ends_asking for place in places)
        numbers = np.fromiter((place.number for place in places), np.intp, len(places))
        self._order = np.lexsort((numbers, sessions))
        self._sessions, self._numbers = sessions[self._order], numbers[self._order]

    def answers(self, near: Column) -> Column:
        """For each round that another speaker's question stands right before: how much nearer that
        is. Only people's conversations have such rounds."""
        gains: Column = np.zeros(len(near))
        for before, after in self._pairs(1) if self._asked else ():
            for asking, row in zip(before.tolist(), after.tolist(), strict=True):
                first, second = self._places[asking], self._places[row]
                if first.ends_asking and first.speakers != second.speakers:
                    gains[row] = max(0.0, near[asking] - near[row])
        return gains

    def nearer(self, near: Column) -> Column:
        """For each round how much nearer one before or after it is, or half of that two rounds
        away; 0 where none is nearer."""
        gains: Column = np.zeros(len(near))
        for distance, share in _SHARES.items():
            for before, after in self._pairs(distance):
                gap = share * (near[after] - near[before])
                gains[before] = np.maximum(gains[before], gap)
                gains[after] = np.maximum(gains[after], -gap)
        return gains

    def _pairs(self, distance: int) -> Iterator[tuple[Rows, Rows]]:
        """Rows of rounds and of those that come so many rounds later in their sessions."""
        # Of the rounds between the two, any may be missing here.
        for step in range(1, distance + 1):
            together = self._sessions[step:] == self._sessions[:-step]
            together &= self._numbers[step:] - self._numbers[:-step] == distance
            yield self._order[:-step][together], self._order[step:][together]
