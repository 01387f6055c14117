"""What a round gains from those beside it: a conversation stays with its subject for a while.

Both gains are a share of how much nearer to the query the other round is. So no round passes the
one it gains from by this alone, and sessions, which rank by their best round, keep their order.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from memory_store.recall.fusion import Column
from memory_store.recall.remembered import Place

Rows = npt.NDArray[np.intp]
# The next round counts in full, the one after it by half.
_SHARES = {1: 1.0, 2: 0.5}


class Neighbours:
    """Which of some rounds stand beside each other in their sessions; a row for each round."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        codes: dict[str, int] = {}
        sessions = [codes.setdefault(place.session_id, len(codes)) for place in places]
        self._sessions = np.array(sessions, np.intp)
        self._numbers = np.fromiter((place.number for place in places), np.intp, len(places))
        self._order = np.lexsort((self._numbers, self._sessions))

    def answers(self, near: Column) -> Column:
        """For each round that another speaker's question stands right before: how much nearer that
        is. Only people's conversations have such rounds."""
        gains: Column = np.zeros(len(near))
        for before, after in self._pairs(1):
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
        sessions, numbers = self._sessions[self._order], self._numbers[self._order]
        # Of the rounds between the two, any may be missing here.
        for step in range(1, distance + 1):
            together = sessions[step:] == sessions[:-step]
            together &= numbers[step:] - numbers[:-step] == distance
            yield self._order[:-step][together], self._order[step:][together]
