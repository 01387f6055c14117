"""The signals of each found round and their weighted sum: BM25 of words, the rarity of a time.

The values of a signal are a column with a row for each round, because a search of a long memory
ranks thousands of rounds. Every signal has a fixed scale (a cosine; BM25 over its possible
maximum), so a plain weighted sum compares rounds of any history, short or long, without looking at
the other candidates.

BM25 after Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
eq. 3.15, with the never-negative inverse document frequency log(1 + (N - n + 0.5) / (n + 0.5)),
scaled so that 1 is the most a document could reach. The same postings weigh rounds and sessions.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, takewhile
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from memory_store.recall._query import Weights
from memory_store.recall._remembered import RoundOutline
from memory_store.recall._search import SignalHits
from memory_store.recall._speakers import Speakers

_K1 = 1.2
_B = 0.75

_Holder = TypeVar("_Holder", bound=Hashable)
Column = npt.NDArray[np.float64]
"""One number per row."""
Rows = npt.NDArray[np.intp]


class Posting(NamedTuple):
    """The rows of the documents that hold a term, each once, and its count in each of them."""

    rows: Rows
    counts: Column


def posting(counts: Mapping[_Holder, float], rows: Mapping[_Holder, int]) -> Posting:
    """The posting of a term from its counts; documents without a row are left out."""
    held = [(row, count) for one, count in counts.items() if (row := rows.get(one)) is not None]
    return Posting(
        np.fromiter((row for row, _ in held), np.intp, len(held)),
        np.fromiter((count for _, count in held), np.float64, len(held)),
    )


def gathered(found: Posting, groups: Rows) -> Posting:
    """The posting of the same term over groups of documents, each taken as one document. `groups`
    holds the group of each row."""
    counts: Column = np.bincount(groups[found.rows], found.counts).astype(np.float64)
    rows = np.flatnonzero(counts)
    return Posting(rows, counts[rows])


def term_weights(postings: Sequence[Posting], documents: int) -> list[float]:
    """The inverse document frequency of each term among `documents` documents."""
    return [_idf(len(found.rows), max(documents, len(found.rows))) for found in postings]


def bm25(
    postings: Sequence[Posting],
    weights: Sequence[float],
    documents: int,
    relative_lengths: Column | None = None,
) -> Column:
    """The similarity, 0 to 1, of every one of `documents` documents.

    `relative_lengths` are lengths over the mean length; without them length does not count.
    """
    lengths = np.ones(documents) if relative_lengths is None else relative_lengths
    most = sum(weights) * (_K1 + 1)
    similarities: Column = np.zeros(documents)
    for weight, (rows, counts) in zip(weights, postings, strict=True):
        similarities[rows] += weight * _saturated(counts, lengths[rows]) / most
    return similarities


def _idf(found: int, documents: int) -> float:
    return math.log(1 + (documents - found + 0.5) / (found + 0.5))


def _saturated(counts: Column, relative_lengths: Column) -> Column:
    return counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * relative_lengths))


def rarity(found: int, rounds: int) -> float:
    """1 when one round of many was found, 0 when all of them were.

    "Last Friday" singles out a few rounds and deserves a lift; "this year" may hold all rounds of a
    short memory and deserves none. The scale is that of words: log(N / n) over its maximum log(N).
    """
    if not 0 < found < rounds:
        return 0.0
    return math.log(rounds / found) / math.log(rounds)


# Numbers of words without stop words, as recall counts them. The date and the speakers that a round
# is written down with are as long as `_AROUND` words. A round longer than a usual one counts as a
# usual one, as its reply is cut (benchmarks/LOG.md).
_AROUND = 23
_USUAL = 100


def as_many(words: Iterable[int], rounds: int) -> int:
    """How many of the first rounds, whose `words` are given, fit into the room of `rounds` usual
    ones; never fewer than `rounds`."""
    taken = accumulate(_AROUND + min(one, _USUAL) for one in words)
    return sum(1 for _ in takewhile(lambda all: all <= rounds * (_AROUND + _USUAL), taken))


_NOTHING: Column = np.zeros(1)
SIGNALS = tuple(field.name for field in fields(Weights))


def weighted(signals: Mapping[str, Column], weights: Weights) -> Column:
    """The weighted sum of signals."""
    return sum((getattr(weights, name) * column for name, column in signals.items()), _NOTHING)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rounds found by any signal, one row each, and for each signal a column, with 0 for rounds
    that it did not find."""

    ids: Sequence[int]
    sessions: Sequence[str]
    signals: Mapping[str, Column]


# The turn before is mostly another speaker's; the one before that is mostly the same speaker's.
_REACH = 2


class Neighbours:
    """Finds which rounds (rows) follow each other in sessions in which several people speak.

    `sessions` holds the number of each round's session.
    """

    def __init__(self, places: Sequence[RoundOutline], sessions: Rows) -> None:
        self._places = places
        rows = np.array(_of_several_people(places, sessions.tolist()), np.intp)
        numbers = np.fromiter((places[row].number for row in rows), np.intp, len(rows))
        order = np.lexsort((numbers, sessions[rows]))
        self._rows, self._numbers = rows[order], numbers[order]
        self._sessions = sessions[self._rows]

    def answers(self, near: Column) -> Column:
        """For each round, how much nearer another speaker's question right before it is; 0 if there
        is none or it is not nearer."""
        gains: Column = np.zeros(len(near))
        for before, after in self._pairs(1):
            for asking, row in zip(before.tolist(), after.tolist(), strict=True):
                first, second = self._places[asking], self._places[row]
                if first.ends_asking and first.speakers != second.speakers:
                    gains[row] = max(0.0, near[asking] - near[row])
        return gains

    def nearer(self, near: Column) -> Column:
        """For each round, how much nearer the nearest of the two rounds before and the two after
        is; 0 if none is nearer."""
        gains: Column = np.zeros(len(near))
        for distance in range(1, _REACH + 1):
            for before, after in self._pairs(distance):
                gap = near[after] - near[before]
                gains[before] = np.maximum(gains[before], gap)
                gains[after] = np.maximum(gains[after], -gap)
        return gains

    def _pairs(self, distance: int) -> Iterator[tuple[Rows, Rows]]:
        """Pairs of rows of rounds that are `distance` rounds apart in their sessions."""
        # The rounds between the two may not be among the candidates.
        for step in range(1, distance + 1):
            together = self._sessions[step:] == self._sessions[:-step]
            together &= self._numbers[step:] - self._numbers[:-step] == distance
            yield self._rows[:-step][together], self._rows[step:][together]


def _of_several_people(places: Sequence[RoundOutline], sessions: Sequence[int]) -> list[int]:
    """The rows of sessions whose found rounds have different speakers."""
    names: dict[int, set[Speakers]] = {}
    for session, place in zip(sessions, places, strict=True):
        if place.speakers:
            names.setdefault(session, set()).add(place.speakers)
    several = {session for session, found in names.items() if len(found) > 1}
    return [row for row, session in enumerate(sessions) if session in several] if several else []


# This many rounds into a session, the lift is half that of the first round.
_HALVED = 7


def candidates_of(
    found: SignalHits, named: Speakers, weights: Weights, overview: bool
) -> Candidates:
    """Every round that any signal found and that is still there, with all its signals.

    `named` are the speakers that the question names; `overview` says whether one is asked for.
    """
    ids, places = list(found.places), list(found.places.values())
    rows = {id: row for row, id in enumerate(ids)}
    codes: dict[str, int] = {}
    sessions = np.array([codes.setdefault(one.session_id, len(codes)) for one in places], np.intp)
    words = [posting(counts, rows) for counts in found.words]
    rare = term_weights(words, found.rounds)
    in_sessions = bm25([gathered(one, sessions) for one in words], rare, len(codes))
    cosines = {**found.said_then, **found.happened_then, **found.dense}
    # The keys return the nearest rounds, so all others are at best as near as the last of these.
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
    """For each round, the similarity of the best round of its session; at least 0."""
    best = np.zeros(int(sessions.max(initial=-1)) + 1)
    np.maximum.at(best, sessions, similarities)
    return best[sessions]


def _column(values: Iterable[float], size: int) -> Column:
    return np.fromiter(values, np.float64, size)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the best rounds, with its similarity and the signals that make it up."""

    id: int
    session_id: str
    similarity: float
    signals: Mapping[str, float]


def best(
    candidates: Candidates, weights: Weights, limit: int, *, sessions: bool = True
) -> list[Candidate]:
    """The best `limit` rounds; with `sessions` also the best round of each of the best `limit`
    sessions. Best first; ties are ordered by id, so that runs agree."""
    similarities = weighted(candidates.signals, weights)
    rows = sorted(range(len(candidates.ids)), key=candidates.ids.__getitem__)
    order = [rows[at] for at in np.argsort(-similarities[rows], kind="stable")]
    wanted = order[:limit]
    if sessions:
        leaders: dict[str, int] = {}
        for row in order:
            leaders.setdefault(candidates.sessions[row], row)
            if len(leaders) == limit:
                break
        wanted = list(dict.fromkeys([*wanted, *leaders.values()]))
    return [_candidate(candidates, row, float(similarities[row])) for row in wanted]


def _candidate(candidates: Candidates, row: int, similarity: float) -> Candidate:
    return Candidate(
        candidates.ids[row],
        candidates.sessions[row],
        similarity,
        {name: float(candidates.signals[name][row]) for name in SIGNALS},
    )
