"""How much a find weighs: BM25 of words, the rarity of a time, the length of rounds.

BM25 after Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
eq. 3.15, with the never-negative inverse document frequency log(1 + (N - n + 0.5) / (n + 0.5)),
scaled so that 1 is the most a document could reach. The same postings weigh rounds and sessions.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import TypeVar

_K1 = 1.2
_B = 0.75

_Document = TypeVar("_Document", bound=Hashable)
Postings = Sequence[Mapping[_Document, float]]
"""For each term of the query: document → how often the term occurs in it."""


def term_weights(postings: Postings[_Document], documents: int) -> list[float]:
    """The inverse document frequency of each term among `documents` documents."""
    return [_idf(len(found), max(documents, len(found))) for found in postings]


def bm25(
    postings: Postings[_Document],
    weights: Sequence[float],
    relative_lengths: Mapping[_Document, float] | None = None,
) -> dict[_Document, float]:
    """Similarity, 0 to 1, of every document that holds a term.

    `relative_lengths` are lengths over the mean length; without them length does not count.
    """
    most = sum(weights) * (_K1 + 1)
    similarities: dict[_Document, float] = {}
    for weight, found in zip(weights, postings, strict=True):
        for document, count in found.items():
            length = relative_lengths[document] if relative_lengths else 1.0
            part = weight * _saturated(count, length) / most
            similarities[document] = similarities.get(document, 0.0) + part
    return similarities


def _idf(found: int, documents: int) -> float:
    return math.log(1 + (documents - found + 0.5) / (found + 0.5))


def _saturated(count: float, relative_length: float) -> float:
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * relative_length))


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
# since its reply is cut (docs/reading.md).
_AROUND = 23
_USUAL = 100


def as_many(words: Iterable[int], rounds: int) -> int:
    """How many of the first rounds, of so many words each, fill the place of `rounds` usual ones;
    never fewer than these."""
    taken = accumulate(_AROUND + min(one, _USUAL) for one in words)
    return sum(1 for _ in takewhile(lambda all: all <= rounds * (_AROUND + _USUAL), taken))
