"""The usual index: all values side by side, found by their nearest key, their words, or both."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assistant.designs.control_points import QueryKind, Retrieval
from assistant.designs.design import Design, Ranked, Ranking, ViewQuestion
from assistant.designs.value import Value
from memory_store import TimeUse, Weights
from memory_store.embedding import Matrix, TextKind
from memory_store.language import Rarity, key_phrases, term_counts
from memory_store.language import terms as terms_of
from memory_store.recall import Posting, bm25, term_weights

Weigh = Callable[[Value, float, ViewQuestion], float]
"""From a value and its nearness to how near it is for a question."""

_WEIGHTS = Weights()
_MOST_QUERY_PHRASES = 5


@dataclass(frozen=True, slots=True)
class FlatView:
    """Values with a vector for each key (`owners` says whose) and the words of each."""

    design: Design
    values: Sequence[Value]
    rarity: Rarity
    rows: Matrix
    owners: Sequence[int]
    words: Sequence[Counter[int]]
    weigh: Weigh

    @classmethod
    async def of(
        cls, design: Design, values: Sequence[Value], rarity: Rarity, weigh: Weigh
    ) -> "FlatView":
        """The index of these values; `weigh` says how near one is, all told."""
        texts: list[str] = []
        owners: list[int] = []
        for at, value in enumerate(values):
            keys = await design.keys(value, rarity)
            texts += keys
            owners += [at] * len(keys)
        is_dense = design.chosen.retrieval is not Retrieval.WORDS
        rows = await embedded(design, texts if is_dense else [])
        words = [term_counts(value.text) for value in values]
        return cls(design, values, rarity, rows, owners, words, weigh)

    async def search(self, asked: ViewQuestion) -> Ranking:
        """See `View.search`."""
        dense = await self.cosines(asked)
        words = self.matches(asked).tolist()
        found = [
            self._ranked(value, asked, dense.get(at, 0.0), words[at])
            for at, value in enumerate(self.values)
        ]
        return in_time(found, asked, self.design.chosen.time)

    def _ranked(self, value: Value, asked: ViewQuestion, dense: float, words: float) -> Ranked:
        match self.design.chosen.retrieval:
            case Retrieval.WORDS:
                signals = {"words": words}
            case Retrieval.BOTH:
                signals = {"dense": dense, "words": _WEIGHTS.words * words}
            case _:
                signals = {"dense": dense}
        return Ranked(value, self.weigh(value, sum(signals.values()), asked), signals)

    async def cosines(self, asked: ViewQuestion) -> dict[int, float]:
        """How near the nearest key of each value is."""
        if not len(self.rows):
            return {}
        query = self.query(asked)
        vector = (await self.design.tools.embedder.embed([query], TextKind.QUERY))[0]
        nearest: dict[int, float] = {}
        for owner, cosine in zip(self.owners, self.rows @ vector, strict=True):
            nearest[owner] = max(float(cosine), nearest.get(owner, -1.0))
        return nearest

    def matches(self, asked: ViewQuestion) -> npt.NDArray[np.float64]:
        """BM25 of the question's words in each value."""
        wanted = list(dict.fromkeys(terms_of(self.query(asked))))
        counts = [np.array([held[term] for held in self.words], np.float64) for term in wanted]
        postings = [Posting(rows, each[rows]) for each in counts for rows in [np.flatnonzero(each)]]
        sizes = np.array([sum(held.values()) for held in self.words], np.float64)
        mean = sizes.mean() if sizes.sum() else 1.0
        rare = term_weights(postings, len(self.values))
        return bm25(postings, rare, len(self.values), sizes / mean)

    def query(self, asked: ViewQuestion) -> str:
        """What is searched for: the question, or its key phrases where it has some."""
        if self.design.chosen.query is QueryKind.QUESTION:
            return asked.text
        return "; ".join(key_phrases(asked.text, self.rarity, _MOST_QUERY_PHRASES)) or asked.text


async def embedded(design: Design, texts: Sequence[str]) -> Matrix:
    """A vector of unit length a text."""
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    return await design.tools.embedder.embed(texts, TextKind.DOCUMENT)


def in_time(found: Sequence[Ranked], asked: ViewQuestion, use: TimeUse) -> Ranking:
    """The values, best first, with the time asked about counted as it is used."""
    days = asked.range.days if asked.range else None
    then = [one for one in found if days and one.value.is_of(days)]
    if use is TimeUse.FILTER and days:
        return Ranking(best_first(then or found)[: asked.limit], fell_back=not then)
    if use is TimeUse.LIFT and then:
        lifted = {id(one) for one in then}
        found = [_lifted(one) if id(one) in lifted else one for one in found]
    return Ranking(best_first(found)[: asked.limit])


def best_first(found: Sequence[Ranked]) -> list[Ranked]:
    """The nearest first; of what is as near, what was said last."""
    return sorted(found, key=lambda one: (one.similarity, one.value.said_at), reverse=True)


def _lifted(one: Ranked) -> Ranked:
    signals = {**one.signals, "said_then": _WEIGHTS.said_then}
    return Ranked(one.value, one.similarity + _WEIGHTS.said_then, signals)
