"""One similarity from several signals.

Every signal lives on a fixed scale (a cosine; BM25 over its possible maximum), so a plain weighted
sum compares rounds of any history, short or long, without looking at the other candidates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from memory_store.recall.weighting import Column


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
