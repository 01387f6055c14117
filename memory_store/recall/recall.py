"""The path of one recall: query → keys and words → candidates → rank → values."""

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from memory_store.changes.validity import HOPS, linked_records
from memory_store.embedding.cache import Vector
from memory_store.embedding.embedder import Embedder
from memory_store.embedding.encoder import TextKind
from memory_store.engines.engine import Engine, Scope
from memory_store.errors import InvalidRecord
from memory_store.indexing import Indexer
from memory_store.labels import Where, holds
from memory_store.language.asked import Asked
from memory_store.recall.explanation import LookedFor, reasons
from memory_store.recall.fusion import Candidate, Weights, best
from memory_store.recall.remembered import Places, RoundPlace, Values
from memory_store.recall.search import Found, Search, find
from memory_store.recall.signals import candidates_of
from memory_store.recall.speakers import Speakers, named_speakers, without_names
from memory_store.recall.weighting import as_many
from memory_store.scheduler import aside
from memory_store.time import TimeRange, TimeUse
from memory_store.types import Days, Fact, Reason, Recalled, RecalledSession, Record

SIGNAL = "replaces"
"""How far a round was lifted to come before one whose statement it replaced."""
# A fact this much of the round's closeness is what the round was found by.
_FOUND_BY = 0.8


async def newest_first(
    embedder: Embedder,
    vector: Vector,
    found: Sequence[Recalled],
    linked: Mapping[str, Record],
) -> list[Recalled]:
    """What was found, best first, each after the rounds that replaced what it was found by."""
    by_id = {one.record.id: one for one in found}
    for older in found:
        for fact in await _found_by(embedder, vector, older):
            newest = _newest(fact, linked)
            if newest is not None and newest.id != older.record.id:
                by_id[newest.id] = _lifted(newest, by_id.get(newest.id), older, fact)
    # The sort keeps the order of equals, and puts who was lifted before whom it was lifted to.
    return sorted(by_id.values(), key=lambda one: (-one.similarity, SIGNAL not in one.signals))


async def _found_by(embedder: Embedder, vector: Vector, found: Recalled) -> list[Fact]:
    """The replaced facts of a round that are as near to the query as the round itself."""
    replaced = [fact for fact in found.record.facts if fact.superseded_by]
    if not replaced:
        return []
    rows = await embedder.embed([fact.text for fact in replaced], TextKind.DOCUMENT)
    enough = _FOUND_BY * found.signals["dense"]
    return [fact for fact, cosine in zip(replaced, rows @ vector, strict=True) if cosine >= enough]


def _newest(fact: Fact, linked: Mapping[str, Record]) -> Record | None:
    """The round of the last fact in the chain of replacements."""
    newest: Record | None = None
    for _ in range(HOPS):
        link = fact.superseded_by
        if link is None or link.round_id not in linked:
            break
        newest = linked[link.round_id]
        fact = next(f for f in newest.facts if f.text == link.text)
    return newest


def _lifted(newest: Record, own: Recalled | None, older: Recalled, fact: Fact) -> Recalled:
    """The newer round, as near as the older one where it was not nearer by itself."""
    own = own or Recalled(newest, 0.0, dict.fromkeys(older.signals, 0.0))
    lift = max(0.0, older.similarity - own.similarity)
    if not lift:
        return own
    reason = Reason(SIGNAL, lift, 1.0, (fact.text,))
    return replace(
        own,
        similarity=older.similarity,
        signals={**own.signals, SIGNAL: lift},
        reasons=(*own.reasons, reason) if older.reasons else (),
    )


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How a recall searches."""

    weights: Weights = field(default_factory=Weights)
    statement: float | None = None
    """Share of the statement that would answer the question in the query's vector; None for the
    encoder's own."""
    candidates: int = 400
    """Rounds asked of the dense keys, and of each word."""
    time_use: TimeUse = TimeUse.LIFT
    """What the days that a question asks about do."""

    def statement_for(self, embedder: Embedder) -> float:
        """The share of the statement in a query's vector of this embedder."""
        return embedder.identity.statement if self.statement is None else self.statement


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched, for whom, how much of it is wanted, and an explicit cut by day.

    With `asked_on`, the day of the question, a time that the text names ("last March") counts as
    the settings say (`TimeUse`). What lies outside `days` is never found.
    """

    user_id: str
    text: str
    limit: int = 10
    days: Days = field(default_factory=Days)
    asked_on: date | None = None
    time_range: TimeRange | None = None
    """The days asked about where the caller knows them better than the rules."""
    explained: bool = False
    """Whether each value comes with the reasons for its similarity."""
    sessions: bool = True
    """Whether sessions are wanted beside rounds. Without them half as many values are read."""
    short_limit: int = 0
    """Where rounds are short, up to so many: as much to read as `limit` of usual length. Only
    without sessions; 0 is `limit`, however short they are."""
    where: Where = ()
    """How rounds must be labelled to be found."""
    asked: Asked | None = None
    """What the text asks for, where it was read before; its days count only with `asked_on`."""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidRecord("a query needs text")
        if self.limit < 1:
            raise InvalidRecord(f"limit must be at least 1, got {self.limit}")
        if self.short_limit and (self.short_limit < self.limit or self.sessions):
            raise InvalidRecord("short_limit is at least the limit, and without sessions")


@dataclass(frozen=True, slots=True)
class Recall:
    """Rounds and, where wanted, sessions found, best first, and where the time went (ms)."""

    rounds: tuple[Recalled, ...]
    sessions: tuple[RecalledSession, ...]
    timings: Mapping[str, float]
    time_range: TimeRange | None = None
    fell_back: bool = False
    """Whether nothing was said in the time range, or about it, so that it cut nothing off."""
    values: tuple[Recalled, ...] | None = None
    """What is read where that is not the rounds themselves: what was derived from them."""
    steps: tuple[str, ...] = ()
    """What was done one after the other, where values were not found all at once."""
    asked: Asked = field(default_factory=Asked)
    """What the text asks for, as it was read."""

    @property
    def read(self) -> tuple[Recalled, ...]:
        """What is read, best first."""
        return self.rounds if self.values is None else self.values


@dataclass(frozen=True, slots=True)
class Searched:
    """What a recall searches, and what is known of it."""

    engine: Engine
    indexer: Indexer
    places: Places
    values: Values


async def recall(memory: Searched, query: Query, settings: RecallSettings) -> Recall:
    """Find the `limit` best rounds, or more that are short, and sessions where wanted, of a user's
    memory."""
    engine, indexer = memory.engine, memory.indexer
    language = indexer.design.language
    started = time.perf_counter()
    asked = query.asked
    if asked is None:
        asked = await aside(len(query.text), language.asked, query.text, query.asked_on)
    range_ = query.time_range or asked.time_range
    scope = Scope(query.user_id, days=query.days, labels=query.where)
    search = Search(
        engine,
        indexer.embedder,
        memory.places,
        settings.statement_for(indexer.embedder),
        settings.candidates,
        language,
    )
    counted = None if settings.time_use is TimeUse.OFF else range_
    found = await find(search, query.text, scope, counted)
    embedding = found.embedding
    named, bare = await aside(found.size, _named, query.text, found.places)
    if bare != query.text:
        found = await find(search, bare, scope, counted)
        embedding += found.embedding
    fell_back = False
    if counted and settings.time_use is TimeUse.FILTER:
        then = found.then()
        fell_back = not then.places
        found = found if fell_back else then
    limit = query.short_limit or query.limit
    wanted = await aside(
        found.size, _ranked, found, named, settings, limit, query.sessions, asked.overview
    )
    if query.short_limit:
        limit = as_many((found.places[one.id].words for one in wanted), query.limit)
        wanted = wanted[:limit]
    values = await _values(memory.values, query.user_id, wanted)
    records = {id: one.record for id, one in values.items()}
    linked = await linked_records(engine, query.user_id, query.days, records)
    values = {id: replace(one, record=linked[id]) for id, one in values.items()}
    if query.explained:
        looked_for = LookedFor(
            query.user_id,
            found.text,
            found.vector,
            counted,
            named,
            found.words,
            found.in_sessions(),
        )
        why = await reasons(engine, indexer, looked_for, values, settings.weights)
        values = {id: replace(one, reasons=why[id]) for id, one in values.items()}
    rounds = list(values.values())[:limit]
    if query.where:
        linked = {id: one for id, one in linked.items() if holds(one.round.labels, query.where)}
    rounds = await newest_first(indexer.embedder, found.vector, rounds, linked)
    finished = time.perf_counter()
    return Recall(
        rounds=tuple(rounds[:limit]),
        sessions=_gathered(values.values(), query.limit) if query.sessions else (),
        timings={
            "embed_ms": embedding * 1000,
            "search_ms": (finished - started - embedding) * 1000,
            "total_ms": (finished - started) * 1000,
        },
        time_range=range_,
        fell_back=fell_back,
        asked=asked,
    )


def _named(text: str, places: Mapping[int, RoundPlace]) -> tuple[Speakers, str]:
    """The speakers that the text names, and the text without them."""
    named = named_speakers(text, (place.speakers for place in places.values()))
    return named, without_names(text, named)


def _ranked(
    found: Found,
    named: Speakers,
    settings: RecallSettings,
    limit: int,
    sessions: bool,
    overview: bool,
) -> list[Candidate]:
    """The best of what was found."""
    candidates = candidates_of(found, named, settings.weights, overview)
    return best(candidates, settings.weights, limit, sessions=sessions)


async def _values(values: Values, user_id: str, wanted: Sequence[Candidate]) -> dict[str, Recalled]:
    """The records behind the candidates, in their order; without those that are gone."""
    by_id = {str(uuid.UUID(int=candidate.id)): candidate for candidate in wanted}
    records = await values.of(user_id, list(by_id))
    return {
        id: Recalled(records[id], candidate.similarity, candidate.signals)
        for id, candidate in by_id.items()
        if id in records
    }


def _gathered(values: Iterable[Recalled], limit: int) -> tuple[RecalledSession, ...]:
    """Sessions by their best round, each with those of the values that are its own."""
    rounds: dict[str, list[Recalled]] = {}
    for value in values:
        rounds.setdefault(value.record.round.session_id, []).append(value)
    return tuple(
        RecalledSession(session_id, of_session[0].similarity, tuple(of_session))
        for session_id, of_session in list(rounds.items())[:limit]
    )
