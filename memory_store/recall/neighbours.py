"""What a turn of people's conversation gains from those around it.

Turns of people say little alone ("Five years already!"), and a conversation stays with its subject
for a while. A gain is a share of how much nearer to the query another turn is. So no turn passes
the one it gains from by this alone, and sessions, which rank by their best round, keep their order.
Chats with an assistant gain nothing: each of their rounds says what it is about.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from memory_store.recall.remembered import Place
from memory_store.recall.speakers import Speakers
from memory_store.recall.weighting import Column, Rows

# The turn before is mostly another speaker's, the one before that the same speaker's.
_REACH = 2


class Neighbours:
    """Which of some rounds stand beside each other where several people speak; a row for each.

    `sessions` numbers the session of each.
    """

    def __init__(self, places: Sequence[Place], sessions: Rows) -> None:
        self._places = places
        rows = np.array(_of_several_people(places, sessions.tolist()), np.intp)
        numbers = np.fromiter((places[row].number for row in rows), np.intp, len(rows))
        order = np.lexsort((numbers, sessions[rows]))
        self._rows, self._numbers = rows[order], numbers[order]
        self._sessions = sessions[self._rows]

    def answers(self, near: Column) -> Column:
        """For each round that another speaker's question stands right before: how much nearer that
        is."""
        gains: Column = np.zeros(len(near))
        for before, after in self._pairs(1):
            for asking, row in zip(before.tolist(), after.tolist(), strict=True):
                first, second = self._places[asking], self._places[row]
                if first.ends_asking and first.speakers != second.speakers:
                    gains[row] = max(0.0, near[asking] - near[row])
        return gains

    def nearer(self, near: Column) -> Column:
        """For each round how much nearer the nearest of the two before and the two after it is; 0
        where none is nearer."""
        gains: Column = np.zeros(len(near))
        for distance in range(1, _REACH + 1):
            for before, after in self._pairs(distance):
                gap = near[after] - near[before]
                gains[before] = np.maximum(gains[before], gap)
                gains[after] = np.maximum(gains[after], -gap)
        return gains

    def _pairs(self, distance: int) -> Iterator[tuple[Rows, Rows]]:
        """Rows of rounds and of those that come so many rounds later in their sessions."""
        # Of the rounds between the two, any may be missing here.
        for step in range(1, distance + 1):
            together = self._sessions[step:] == self._sessions[:-step]
            together &= self._numbers[step:] - self._numbers[:-step] == distance
            yield self._rows[:-step][together], self._rows[step:][together]


def _of_several_people(places: Sequence[Place], sessions: Sequence[int]) -> list[int]:
    """The rows of sessions in which speakers of more than one name were found."""
    names: dict[int, set[Speakers]] = {}
    for session, place in zip(sessions, places, strict=True):
        if place.speakers:
            names.setdefault(session, set()).add(place.speakers)
    several = {session for session, found in names.items() if len(found) > 1}
    return [row for row, session in enumerate(sessions) if session in several] if several else []
