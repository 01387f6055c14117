"""What every signal says of the rounds that were found, in columns: a row for each round.

Columns, because a search of a long memory ranks thousands of rounds.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from memory_store.recall._ranking import (
    Candidates,
    Column,
    Rows,
    Weights,
    bm25,
    gathered,
    posting,
    rarity,
    term_weights,
    weighted,
)
from memory_store.recall._remembered import RoundOutline
from memory_store.recall._search import SignalHits
from memory_store.recall._speakers import Speakers

# The turn before is mostly another speaker's, the one before that the same speaker's.
_REACH = 2


class Neighbours:
    """Which of some rounds stand beside each other where several people speak; a row for each.

    `sessions` numbers the session of each.
    """

    def __init__(self, places: Sequence[RoundOutline], sessions: Rows) -> None:
        self._places = places
        rows = np.array(_of_several_people(places, sessions.tolist()), np.intp)
        numbers = np.fromiter((places[row].number for row in rows), np.intp, len(rows))
        order = np.lexsort((numbers, sessions[rows]))
        self._rows, self._numbers = rows[order], numbers[order]
        self._sessions = sessions[self._rows]

    def answers(self, near: Column) -> Column:
        """How much nearer another speaker's question is that stands right before a round, for
        each round."""
        gains: Column = np.zeros(len(near))
        for before, after in self._pairs(1):
            for asking, row in zip(before.tolist(), after.tolist(), strict=True):
                first, second = self._places[asking], self._places[row]
                if first.ends_asking and first.speakers != second.speakers:
                    gains[row] = max(0.0, near[asking] - near[row])
        return gains

    def nearer(self, near: Column) -> Column:
        """How much nearer the nearest of two rounds before and two after is, for each round; 0
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
        # Rounds between the two may be missing here.
        for step in range(1, distance + 1):
            together = self._sessions[step:] == self._sessions[:-step]
            together &= self._numbers[step:] - self._numbers[:-step] == distance
            yield self._rows[:-step][together], self._rows[step:][together]


def _of_several_people(places: Sequence[RoundOutline], sessions: Sequence[int]) -> list[int]:
    """The rows of sessions in which speakers of more than one name were found."""
    names: dict[int, set[Speakers]] = {}
    for session, place in zip(sessions, places, strict=True):
        if place.speakers:
            names.setdefault(session, set()).add(place.speakers)
    several = {session for session, found in names.items() if len(found) > 1}
    return [row for row, session in enumerate(sessions) if session in several] if several else []


# A round so far into its session gets half the lift of the first.
_HALVED = 7


def candidates_of(
    found: SignalHits, named: Speakers, weights: Weights, overview: bool
) -> Candidates:
    """Every round that any signal found and that is still there, with all its signals.

    `named` are the speakers that the question names; `overview` says whether an
    overview is asked for.
    """
    ids, places = list(found.places), list(found.places.values())
    rows = {id: row for row, id in enumerate(ids)}
    codes: dict[str, int] = {}
    sessions = np.array([codes.setdefault(one.session_id, len(codes)) for one in places], np.intp)
    words = [posting(counts, rows) for counts in found.words]
    rare = term_weights(words, found.rounds)
    in_sessions = bm25([gathered(one, sessions) for one in words], rare, len(codes))
    cosines = {**found.said_then, **found.happened_then, **found.dense}
    # A round that the keys did not return is at best as near as the last one they did.
    farthest = min(cosines.values(), default=0.0)
    signals = {
        "dense": _column((cosines.get(id, farthest) for id in ids), len(ids)),
        "words": bm25(words, rare, len(ids)),
        "session_words": in_sessions[sessions],
        "speaker": _column((not named.isdisjoint(one.speakers) for one in places), len(ids)),
        "said_then": np.zeros(len(ids)),
        "happened_then": np.zeros(len(ids)),
    }
    for name, then in (("said_then", found.said_then), ("happened_then", found.happened_then)):
        signals[name][posting(then, rows).rows] = rarity(len(then), found.rounds)
    beside = Neighbours(places, sessions)
    near = weights.dense * signals["dense"] + weights.words * signals["words"]
    signals["answers"] = beside.answers(near)
    signals["opening"] = np.zeros(len(ids))
    if overview:
        signals["opening"] = _openings(places) * _best(weighted(signals, weights), sessions)
    signals["neighbours"] = beside.nearer(weighted(signals, weights))
    return Candidates(ids, [place.session_id for place in places], signals)


def _openings(places: Sequence[RoundOutline]) -> Column:
    """How near each round is to the beginning of its session: 1 for the first round."""
    numbers = _column((place.number for place in places), len(places))
    return np.exp2(-numbers / _HALVED)


def _best(similarities: Column, sessions: Rows) -> Column:
    """The similarity of the best round of its session, for each round; none is below 0."""
    best = np.zeros(int(sessions.max(initial=-1)) + 1)
    np.maximum.at(best, sessions, similarities)
    return best[sessions]


def _column(values: Iterable[float], size: int) -> Column:
    return np.fromiter(values, np.float64, size)
