"""The path of one recall: query → keys and words → candidates → rank → values."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory_store.embedding.embedder import Embedder
from memory_store.embedding.encoder import TextKind
from memory_store.engines.engine import Engine, Hit, Scope
from memory_store.errors import InvalidRecord
from memory_store.points import from_payload
from memory_store.recall.bm25 import bm25, term_weights
from memory_store.recall.fusion import Candidate, Weights, ranked
from memory_store.types import Days, Recalled, RecalledSession
from memory_store.words import term_counts

_FIELDS = ("session_id", "word_count")


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How a recall searches."""

    weights: Weights = field(default_factory=Weights)
    candidates: int = 400
    """Rounds asked of the dense keys, and of each word."""
    mean_words: float = 190.0
    """Words (without stop words) of an average round, for BM25's length norm."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched, for whom, how much of it is wanted, and an explicit cut by day."""

    user_id: str
    text: str
    limit: int = 10
    days: Days = field(default_factory=Days)

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidRecord("a query needs text")
        if self.limit < 1:
            raise InvalidRecord(f"limit must be at least 1, got {self.limit}")


@dataclass(frozen=True, slots=True)
class Recall:
    """Rounds and sessions found, best first, and where the time went (milliseconds)."""

    rounds: tuple[Recalled, ...]
    sessions: tuple[RecalledSession, ...]
    timings: Mapping[str, float]


async def recall(
    engine: Engine, embedder: Embedder, query: Query, settings: RecallSettings
) -> Recall:
    """Find the `limit` best rounds, and the `limit` best sessions, of a user's memory."""
    started = time.perf_counter()
    vector = (await embedder.embed([query.text], TextKind.QUERY))[0]
    embedded = time.perf_counter()
    scope = Scope(query.user_id, days=query.days)
    dense = await engine.nearest(vector, scope, settings.candidates, _FIELDS)
    terms = list(term_counts(query.text))
    words = await engine.postings(terms, scope, settings.candidates, _FIELDS) if terms else []
    rounds = await engine.count(scope)
    best = ranked(_candidates(dense, words, rounds, settings), settings.weights)
    found = await _values(engine, query, best)
    finished = time.perf_counter()
    return Recall(
        rounds=tuple(found[candidate.id] for candidate, _ in best[: query.limit]),
        sessions=_gathered(best, found, query.limit),
        timings={
            "embed_ms": (embedded - started) * 1000,
            "search_ms": (finished - embedded) * 1000,
            "total_ms": (finished - started) * 1000,
        },
    )


def _candidates(
    dense: Sequence[Hit], words: Sequence[Sequence[Hit]], rounds: int, settings: RecallSettings
) -> list[Candidate]:
    """Every round that a key or a word found, with all its signals."""
    payloads = {hit.id: hit.payload for hits in (dense, *words) for hit in hits}
    by_round = [{hit.id: hit.similarity for hit in hits} for hits in words]
    weights = term_weights(by_round, rounds)
    lengths = {id: p["word_count"] / settings.mean_words for id, p in payloads.items()}
    in_rounds = bm25(by_round, weights, lengths)
    in_sessions = bm25([_by_session(hits) for hits in words], weights)
    cosines = {hit.id: hit.similarity for hit in dense}
    # A round that the keys did not return is at best as near as the last one they did.
    farthest = min(cosines.values(), default=0.0)
    return [
        Candidate(
            id=id,
            session_id=payload["session_id"],
            dense=cosines.get(id, farthest),
            words=in_rounds.get(id, 0.0),
            session_words=in_sessions.get(payload["session_id"], 0.0),
        )
        for id, payload in payloads.items()
    ]


def _by_session(hits: Sequence[Hit]) -> dict[str, float]:
    counts: defaultdict[str, float] = defaultdict(float)
    for hit in hits:
        counts[hit.payload["session_id"]] += hit.similarity
    return dict(counts)


async def _values(
    engine: Engine, query: Query, best: Sequence[tuple[Candidate, float]]
) -> dict[str, Recalled]:
    """The records behind the best rounds and behind the best round of each best session."""
    wanted = {
        candidate.id: (candidate, similarity) for candidate, similarity in best[: query.limit]
    }
    leaders: dict[str, tuple[Candidate, float]] = {}
    for candidate, similarity in best:
        leaders.setdefault(candidate.session_id, (candidate, similarity))
    wanted |= {pair[0].id: pair for pair in list(leaders.values())[: query.limit]}
    hits = await engine.scroll(Scope(query.user_id, ids=tuple(wanted))) if wanted else []
    return {
        hit.id: Recalled(from_payload(hit.payload), wanted[hit.id][1], wanted[hit.id][0].signals)
        for hit in hits
    }


def _gathered(
    best: Sequence[tuple[Candidate, float]], found: Mapping[str, Recalled], limit: int
) -> tuple[RecalledSession, ...]:
    """Sessions by their best round; a round not among the values is left out of its session."""
    rounds: dict[str, list[Recalled]] = {}
    for candidate, _ in best:
        if candidate.id in found:
            rounds.setdefault(candidate.session_id, []).append(found[candidate.id])
    return tuple(
        RecalledSession(session_id, of_session[0].similarity, tuple(of_session))
        for session_id, of_session in list(rounds.items())[:limit]
    )
