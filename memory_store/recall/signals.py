"""What every signal says of the rounds that were found, in columns: a row for each round.

Columns, because a search of a long memory ranks thousands of rounds.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from memory_store.recall.fusion import Candidates, Weights, weighted
from memory_store.recall.neighbours import Neighbours
from memory_store.recall.remembered import Place
from memory_store.recall.search import Found
from memory_store.recall.speakers import Speakers
from memory_store.recall.weighting import (
    Column,
    Rows,
    bm25,
    gathered,
    posting,
    rarity,
    term_weights,
)

# A round so far into its session gets half the lift of the first.
_HALVED = 7


def candidates_of(found: Found, named: Speakers, weights: Weights, overview: bool) -> Candidates:
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


def _openings(places: Sequence[Place]) -> Column:
    """How near each round is to the beginning of its session: 1 for the first round."""
    numbers = _column((place.number for place in places), len(places))
    return np.exp2(-numbers / _HALVED)


def _best(similarities: Column, sessions: Rows) -> Column:
    """For each round the similarity of the best one of its session; none is below 0."""
    best = np.zeros(int(sessions.max(initial=-1)) + 1)
    np.maximum.at(best, sessions, similarities)
    return best[sessions]


def _column(values: Iterable[float], size: int) -> Column:
    return np.fromiter(values, np.float64, size)
