"""What a design is: choices at the control points, and what it does in a way of its own.

To add one, write a class below `Design` in a module of its own and name it in the setting `design`
(`module:Class`). Most override one method: what the values are, what finds them, or how their
nearness counts. The usual index holds all values side by side, found by their nearest key, their
words, or both.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from assistant.designs.control_points import Choices, KeySource, QueryKind, Retrieval, ValueKind
from assistant.designs.summaries import Summariser
from assistant.designs.value import (
    Ranked,
    Ranking,
    Value,
    View,
    ViewQuestion,
    by_session,
    in_time,
    of_facts,
    of_round,
    of_session,
    of_summary,
    spoken,
)
from assistant.models.gateway import Gateway
from memory_store import Fact, Record, Speaker, Weights, windows
from memory_store.embedding import Embedder, Matrix, TextKind
from memory_store.language import Language, Rarity, key_phrases, term_counts
from memory_store.language import terms as terms_of
from memory_store.recall import Posting, bm25, term_weights
from memory_store.scheduler import aside

_MOST_PHRASES = 8
_MOST_QUERY_PHRASES = 5
_WEIGHTS = Weights()
# For `aside`: this many characters are split into words while rules read one.
_READ_FAST = 16


@dataclass(frozen=True, slots=True)
class Tools:
    """What designs are built with. `guide` is a language model that chooses, where there is one.

    `fallbacks` counts values that lack what the design asks for, by what they lack.
    """

    embedder: Embedder
    language: Language
    summariser: Summariser
    guide: Gateway | None = None
    fallbacks: Counter[str] = field(default_factory=Counter)


class Design:
    """A memory design: its name, where it was published, and its choices."""

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    choices: ClassVar[Choices] = Choices()
    retrievals: ClassVar[tuple[Retrieval, ...]] = (
        Retrieval.DENSE,
        Retrieval.WORDS,
        Retrieval.BOTH,
    )
    """The kinds of retrieval that can be chosen for it."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """The control points at which nothing else can be chosen."""

    def __init__(self, tools: Tools, chosen: Choices) -> None:
        self.tools = tools
        self.chosen = chosen

    def described(self) -> dict[str, Any]:
        """What it does at each control point, by name: the choices, unless it has a way of its
        own there."""
        return self.chosen.described()

    async def view(self, records: Sequence[Record]) -> View:
        """The index of a user's rounds, oldest first."""
        rarity = await rarity_of(records)
        return await self.index(records, await self.values(records, rarity), rarity)

    async def index(
        self, records: Sequence[Record], values: Sequence[Value], rarity: Rarity
    ) -> View:
        """The index of these values, which were made of the rounds."""
        return await FlatView.of(self, values, rarity, self.weigh)

    async def values(self, records: Sequence[Record], rarity: Rarity) -> list[Value]:
        match self.chosen.value:
            case ValueKind.ROUND:
                return [of_round(record) for record in records]
            case ValueKind.SESSION:
                return [of_session(session) for session in by_session(records)]
            case ValueKind.SUMMARY:
                return [
                    of_summary(await self.tools.summariser.of_rounds(session, rarity), session)
                    for session in by_session(records)
                ]
            case ValueKind.FACT:
                stated = ((record, self.kept_facts(record)) for record in records)
                return [of_facts(record, facts) for record, facts in stated if facts]

    def kept_facts(self, record: Record) -> list[Fact]:
        """Facts of a round that are values of their own."""
        return [fact for fact in record.facts if fact.speaker is Speaker.USER]

    async def keys(self, value: Value, rarity: Rarity) -> list[str]:
        """The texts that a value is found by; its own words where there is nothing else."""
        texts = [
            text for source in self.chosen.keys for text in await self._of(value, source, rarity)
        ]
        if not texts:
            self.tools.fallbacks["key"] += 1
            texts = [value.said]
        if self.chosen.merged and len(texts) > 1:
            own = KeySource.VALUE in self.chosen.keys
            # An encoder reads only the beginning of a long text, so what is short comes first.
            texts = ["\n".join([*texts[1:], texts[0]] if own else texts)]
        return [window for text in dict.fromkeys(texts) for window in windows(text)]

    async def _of(self, value: Value, source: KeySource, rarity: Rarity) -> list[str]:
        match source:
            case KeySource.VALUE:
                return [value.said] if value.said.strip() else []
            case KeySource.FACT:
                return list(dict.fromkeys(fact.text for fact in value.facts))
            case KeySource.KEYPHRASE:
                phrases = self.phrases(value, rarity)
                return ["; ".join(phrases)] if phrases else []
            case KeySource.SUMMARY:
                summary = await self.tools.summariser.of_rounds(value.sources, rarity)
                return [summary] if summary else []

    def phrases(self, value: Value, rarity: Rarity, most: int = _MOST_PHRASES) -> list[str]:
        """The key phrases of a value: the extraction model's, or up to `most` by statistics."""
        given = [phrase for record in value.sources for phrase in record.keyphrases]
        return given or key_phrases(value.text, rarity, most)

    def weigh(self, value: Value, similarity: float, asked: ViewQuestion) -> float:
        """The final nearness of a value; by default the similarity with which it was found."""
        return similarity


async def rarity_of(records: Sequence[Record]) -> Rarity:
    """How rare each word is among a user's rounds."""
    size = sum(record.round.size for record in records) // _READ_FAST
    return await aside(size, lambda: Rarity(spoken(record.round) for record in records))


Weigh = Callable[[Value, float, ViewQuestion], float]
"""Returns the final nearness of a value, given its similarity and the question."""


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
        """The index of these values; `weigh` gives the final nearness of each."""
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


@dataclass(slots=True)
class VectorsAwaited:
    """How long vectors of texts were waited for."""

    seconds: float = 0.0


_AWAITED: ContextVar[VectorsAwaited] = ContextVar("awaited")


@contextmanager
def vectors_awaited() -> Iterator[VectorsAwaited]:
    """Measures how long all that is done within waits for vectors. This depends on the encoder, and
    on whether the same texts were asked for before, but not on the design."""
    outer = _AWAITED.set(awaited := VectorsAwaited())
    try:
        yield awaited
    finally:
        _AWAITED.reset(outer)


async def embedded(design: Design, texts: Sequence[str]) -> Matrix:
    """One vector of unit length for each text."""
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    started = time.perf_counter()
    rows = await design.tools.embedder.embed(texts, TextKind.DOCUMENT)
    _AWAITED.get(VectorsAwaited()).seconds += time.perf_counter() - started
    return rows
