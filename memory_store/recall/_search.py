"""The search for a text: the engine finds rounds by keys, by words, and by the time asked about."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory_store._keys import Indexer
from memory_store._points import postings_in_parts
from memory_store._spans import TimeRange
from memory_store.embedding.cache import Vector
from memory_store.embedding.encoder import TextKind
from memory_store.engines._engine import ReadableEngine, Similarities, UserScope
from memory_store.language.words import query_terms
from memory_store.recall._query import RecallSettings
from memory_store.recall._remembered import RecordsById, RoundOutline, RoundOutlines
from memory_store.scheduler import aside, pause


async def query_vector(indexer: Indexer, settings: RecallSettings, text: str) -> Vector:
    """The unit vector of the question, mixed with that of the statement that would answer it."""
    statement = settings.statement_for(indexer.embedder)
    texts = [text]
    if statement and (told := indexer.design.language.as_statement(text)) != text:
        texts.append(told)
    rows = await indexer.embedder.embed(texts, TextKind.QUERY)
    shares = [1 - statement, statement] if len(rows) == 2 else [1.0]
    between: Vector = np.asarray(shares, dtype=np.float32) @ rows
    between /= float(np.linalg.norm(between)) or 1.0
    return between


# Ranking this many finds takes about as long as reading one character.
_FINDS = 4


@dataclass(frozen=True, slots=True)
class SearchedMemory:
    """The memory that a recall searches, with its caches."""

    engine: ReadableEngine
    indexer: Indexer
    outlines: RoundOutlines
    records: RecordsById


@dataclass(frozen=True, slots=True)
class SignalHits:
    """What the engine found for each signal of a text, and the outlines of the found rounds."""

    text: str
    vector: Vector
    embedding: float
    """Seconds that the vector took."""
    dense: Similarities
    words: Sequence[Similarities]
    unknown: frozenset[str]
    """Words that no round has."""
    said_then: Similarities
    happened_then: Similarities
    rounds: int
    """How many rounds the user has within the cut."""
    places: Mapping[int, RoundOutline]
    """The outlines of all found rounds that still exist, in the order of finding."""

    @property
    def size(self) -> int:
        """How much work it is to go through the hits, in the unit of `aside`."""
        return len(self.text) + (sum(map(len, self.words)) + len(self.places)) // _FINDS

    def in_sessions(self) -> list[set[str]]:
        """For each word, the sessions that hold it."""
        return [
            {self.places[id].session_id for id in counts if id in self.places}
            for counts in self.words
        ]

    def then(self) -> "SignalHits":
        """The same hits, without rounds that were neither said in the time range nor about it."""
        return replace(
            self,
            places={
                id: place
                for id, place in self.places.items()
                if id in self.said_then or id in self.happened_then
            },
        )


async def find(
    memory: SearchedMemory,
    settings: RecallSettings,
    text: str,
    scope: UserScope,
    range_: TimeRange | None,
) -> SignalHits:
    """Search by all signals of the text at once."""
    engine, limit = memory.engine, settings.candidates
    started = time.perf_counter()
    vector = await query_vector(memory.indexer, settings, text)
    embedding = time.perf_counter() - started
    said, happened = _scopes_in(range_, scope)

    wanted = await aside(len(text), query_terms, text)
    terms = list(dict.fromkeys(term for one in wanted for term in one))

    async def nearest(scope: UserScope | None) -> Similarities:
        await pause()
        return await engine.nearest(vector, scope, limit) if scope else {}

    dense, by_term, said_then, happened_then, rounds = await asyncio.gather(
        nearest(scope),
        postings_in_parts(engine, terms, scope, limit),
        nearest(said),
        nearest(happened),
        engine.count(scope),
    )
    postings = dict(zip(terms, by_term, strict=True))
    words = [_of_word([postings[term] for term in one]) for one in wanted]
    lists = (dense, *words, said_then, happened_then)
    unknown = frozenset(
        word for word, counts in zip(wanted.values(), words, strict=True) if not counts
    )
    ids = await aside(sum(map(len, lists)) // _FINDS, _each_once, lists)
    places = await memory.outlines.of(scope.user_id, ids)
    return SignalHits(
        text,
        vector,
        embedding,
        dense,
        words,
        unknown,
        said_then,
        happened_then,
        rounds,
        places,
    )


def _scopes_in(
    range_: TimeRange | None, scope: UserScope
) -> tuple[UserScope | None, UserScope | None]:
    """The scope narrowed to what was said in the range, and to what talks about it."""
    if range_ is None:
        return None, None
    said = scope.days.within(range_.days)
    return (
        replace(scope, days=said) if said else None,
        replace(scope, event_days=range_.days),
    )


def _of_word(counts: Sequence[Similarities]) -> Similarities:
    """How often rounds hold a word, from the counts of its terms. Two stems of one word are not two
    words, so the greatest count is taken."""
    if len(counts) == 1:
        return counts[0]
    most: dict[int, float] = {}
    for found in counts:
        for id, count in found.items():
            most[id] = max(count, most.get(id, 0.0))
    return most


def _each_once(lists: Sequence[Similarities]) -> list[int]:
    """The ids in the lists, in the order of finding."""
    return list(dict.fromkeys(id for found in lists for id in found))
