"""How much each find weighs, and one similarity of all: BM25 of words, the rarity of a time, a sum.

Every signal lives on a fixed scale (a cosine; BM25 over its possible maximum), so a plain weighted
sum compares rounds of any history, short or long, without looking at the other candidates.

BM25 after Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
eq. 3.15, with the never-negative inverse document frequency log(1 + (N - n + 0.5) / (n + 0.5)),
scaled so that 1 is the most a document could reach. The same postings weigh rounds and sessions.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, takewhile
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

_K1 = 1.2
_B = 0.75

_Holder = TypeVar("_Holder", bound=Hashable)
Column = npt.NDArray[np.float64]
"""A number for each of some rows."""
Rows = npt.NDArray[np.intp]


class Posting(NamedTuple):
    """The documents that hold a term, each once and by its row, and how often it is in each."""

    rows: Rows
    counts: Column


def posting(counts: Mapping[_Holder, float], rows: Mapping[_Holder, int]) -> Posting:
    """The posting of a term from its counts; without documents that have no row."""
    held = [(row, count) for one, count in counts.items() if (row := rows.get(one)) is not None]
    return Posting(
        np.fromiter((row for row, _ in held), np.intp, len(held)),
        np.fromiter((count for _, count in held), np.float64, len(held)),
    )


def gathered(found: Posting, groups: Rows) -> Posting:
    """The posting of the same term where the documents of each group are one; `groups` says for
    each row which group it belongs to."""
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
    """Similarity, 0 to 1, of every document, of which there are so many.

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

    "Last Friday" singles out a handful of rounds and deserves a lift; "this year" holds everything
    of a short memory and deserves none. On the scale of words: log(N / n) over its maximum log(N).
    """
    if not 0 < found < rounds:
        return 0.0
    return math.log(rounds / found) / math.log(rounds)


# Without stop words, as recall counts them. What a round is written down with, its date and its
# speakers, is as long as `_AROUND` words; a longer round than a usual one counts no more than that,
# since its reply is cut (benchmarks/LOG.md).
_AROUND = 23
_USUAL = 100


def as_many(words: Iterable[int], rounds: int) -> int:
    """How many of the first rounds, of so many words each, fill the place of `rounds` usual ones;
    never fewer than these."""
    taken = accumulate(_AROUND + min(one, _USUAL) for one in words)
    return sum(1 for _ in takewhile(lambda all: all <= rounds * (_AROUND + _USUAL), taken))


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts."""

    dense: float = 1.0
    """The best key of the round: cosine to the query."""
    words: float = 0.25
    """BM25 of the query's words in the round, both speakers."""
    session_words: float = 0.2
    """BM25 of the query's words in the whole session; lifts all its rounds alike."""
    speaker: float = 0.2
    """1 when the question names who speaks in the round, one of several people."""
    answers: float = 0.6
    """The round answers somebody's question right before it: how much nearer to the query that
    question is than the answer itself, which often says little alone ("Five years already!")."""
    neighbours: float = 0.4
    """A turn up to two before or after it is nearer, by all other signals, where several people
    speak: how much."""
    opening: float = 0.5
    """Where the question asks for a summary or an order of what was said: how near the session is,
    by its best round, halved with every seven rounds since its beginning. People begin with what a
    conversation is about."""
    said_then: float = 0.1
    """The round was said in the time range of the question: how rare that is, 0 to 1."""
    happened_then: float = 0.02
    """The round talks about a day in the time range of the question: how rare that is, 0 to 1."""


_NOTHING: Column = np.zeros(1)
SIGNALS = tuple(field.name for field in fields(Weights))


def weighted(signals: Mapping[str, Column], weights: Weights) -> Column:
    """The weighted sum of signals."""
    return sum((getattr(weights, name) * column for name, column in signals.items()), _NOTHING)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rounds found by any signal, one row each; of each signal a column, 0 where it found nothing.

    Columns, because a search of a long memory has thousands of candidates.
    """

    ids: Sequence[int]
    sessions: Sequence[str]
    signals: Mapping[str, Column]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One round that is wanted: its similarity and the signals that make it."""

    id: int
    session_id: str
    similarity: float
    signals: Mapping[str, float]


def best(
    candidates: Candidates, weights: Weights, limit: int, *, sessions: bool = True
) -> list[Candidate]:
    """The first `limit` rounds; with `sessions` whatever else leads one of the first `limit` ones.

    Best first; ties by id, so that runs agree.
    """
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
