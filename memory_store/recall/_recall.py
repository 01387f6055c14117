"""The path of one recall: query → keys and words → candidates → rank → values."""

import time
import uuid
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial

import numpy as np

from memory_store._changes.validity import HOPS, linked_records
from memory_store._labels import holds
from memory_store._spans import TimeRange, TimeUse
from memory_store._types import Fact, Record
from memory_store.embedding.cache import Vector
from memory_store.embedding.embedder import Embedder
from memory_store.embedding.encoder import TextKind
from memory_store.engines._engine import UserScope
from memory_store.language.words import query_terms
from memory_store.recall._query import (
    Query,
    Reason,
    Recall,
    Recalled,
    RecalledSession,
    RecallSettings,
    Weights,
)
from memory_store.recall._ranking import Candidate, as_many, best, candidates_of
from memory_store.recall._remembered import RecordsById, RoundOutline
from memory_store.recall._search import SearchedMemory, SignalHits, find
from memory_store.recall._speakers import Speakers, named_speakers, speakers_of, without_names
from memory_store.scheduler import aside, in_slices

SIGNAL = "replaces"
"""The name of the signal that lifts a round above one whose statement it replaced."""
# A round counts as found by a fact that is at least this share as near as the round itself.
_FOUND_BY = 0.8


async def newest_first(
    embedder: Embedder,
    vector: Vector,
    found: Sequence[Recalled],
    linked: Mapping[str, Record],
) -> list[Recalled]:
    """The found rounds, best first. A round found by a fact that was replaced comes after the
    round with the newest fact in its place, which is added or lifted."""
    by_id = {one.record.id: one for one in found}
    for older, fact in await _found_by(embedder, vector, found):
        newest = _newest(fact, linked)
        if newest is not None and newest.id != older.record.id:
            by_id[newest.id] = _lifted(newest, by_id.get(newest.id), older, fact)
    # Of equals the lifted round comes first: it has the similarity of the round it replaces.
    return sorted(by_id.values(), key=lambda one: (-one.similarity, SIGNAL not in one.signals))


async def _found_by(
    embedder: Embedder, vector: Vector, found: Sequence[Recalled]
) -> list[tuple[Recalled, Fact]]:
    """The replaced facts that are about as near to the query as their rounds, with the rounds."""
    gone = [
        (one, fact)
        for one in found
        for fact in one.record.facts
        if fact.superseded_by and embedder.may_read(one.record.round.reach)
    ]
    rows = await embedder.embed([fact.text for _, fact in gone], TextKind.DOCUMENT)
    return [
        (one, fact)
        for (one, fact), cosine in zip(gone, rows @ vector, strict=True)
        if cosine >= _FOUND_BY * one.signals["dense"]
    ]


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
    """The newer round, lifted to the similarity of the older one unless it is nearer already."""
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


async def recall(memory: SearchedMemory, query: Query, settings: RecallSettings) -> Recall:
    """Find the best `limit` rounds of a user's memory, or more if they are short, and sessions if
    wanted."""
    indexer = memory.indexer
    language = indexer.design.language
    started = time.perf_counter()
    asked = query.asked
    if asked is None:
        on, begins = query.asked_on, query.week_begins
        asked = await aside(len(query.text), language.asked, query.text, on, begins)
    range_ = query.time_range or asked.time_range
    scope = UserScope(query.user_id, days=query.days, labels=query.where)
    counted = None if settings.time_use is TimeUse.OFF else range_
    found = await find(memory, settings, query.text, scope, counted)
    embedding = found.embedding
    named, bare = await aside(found.size, _named, query, found.places)
    if bare != query.text:
        found = await find(memory, settings, bare, scope, counted)
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
    values = await _values(memory.records, query.user_id, wanted)
    records = {id: one.record for id, one in values.items()}
    read = partial(memory.records.of, query.user_id)
    today = query.today or query.asked_on
    linked = await linked_records(read, query.days, records, today)
    values |= {
        id: replace(one, record=linked[id])
        for id, one in values.items()
        if linked[id] is not one.record
    }
    if query.explained:
        looked_for = _LookedFor(found, found.in_sessions(), counted, named)
        why = await _reasons(memory, query.user_id, looked_for, values, settings.weights)
        values = {id: replace(one, reasons=why[id]) for id, one in values.items()}
    rounds = list(values.values())[:limit]
    if query.where:
        linked = {id: one for id, one in linked.items() if holds(one.round.labels, query.where)}
    rounds = await newest_first(indexer.embedder, found.vector, rounds, linked)
    zone = query.days.zone
    finished = time.perf_counter()
    return Recall(
        rounds=tuple(_told_in(zone, one) for one in rounds[:limit]),
        sessions=_gathered((_told_in(zone, one) for one in values.values()), query.limit)
        if query.sessions
        else (),
        timings={
            "embed_ms": embedding * 1000,
            "search_ms": (finished - started - embedding) * 1000,
            "total_ms": (finished - started) * 1000,
        },
        time_range=range_,
        fell_back=fell_back,
        asked=asked,
        unknown=found.unknown,
    )


def _told_in(zone: tzinfo, found: Recalled) -> Recalled:
    told = found.record.told_in(zone)
    return found if told is found.record else replace(found, record=told)


def _named(query: Query, places: Mapping[int, RoundOutline]) -> tuple[Speakers, str]:
    """The speakers that the text of the query names, and the text without their names."""
    rounds = (place.speakers for place in places.values())
    named = named_speakers(query.text, rounds, query.asker)
    return named, without_names(query.text, named)


def _ranked(
    found: SignalHits,
    named: Speakers,
    settings: RecallSettings,
    limit: int,
    sessions: bool,
    overview: bool,
) -> list[Candidate]:
    """Rank the found rounds and return the best."""
    candidates = candidates_of(found, named, settings.weights, overview)
    return best(candidates, settings.weights, limit, sessions=sessions)


async def _values(
    values: RecordsById, user_id: str, wanted: Sequence[Candidate]
) -> dict[str, Recalled]:
    """The records of the candidates, in their order; records that no longer exist are left out."""
    by_id = {str(uuid.UUID(int=candidate.id)): candidate for candidate in wanted}
    records = await values.of(user_id, list(by_id))
    return {
        id: Recalled(records[id], candidate.similarity, candidate.signals)
        for id, candidate in by_id.items()
        if id in records
    }


def _gathered(values: Iterable[Recalled], limit: int) -> tuple[RecalledSession, ...]:
    """The sessions of the values in the order of their best ones, each with its own values."""
    rounds: dict[str, list[Recalled]] = {}
    for value in values:
        rounds.setdefault(value.record.round.session_id, []).append(value)
    return tuple(
        RecalledSession(session_id, of_session[0].similarity, tuple(of_session))
        for session_id, of_session in list(rounds.items())[:limit]
    )


@dataclass(frozen=True, slots=True)
class _LookedFor:
    """What a recall looked for and found, to give reasons: the hits, the sessions that hold each
    word, and the time and the speakers that the query names."""

    found: SignalHits
    in_sessions: Sequence[Container[str]]
    time_range: TimeRange | None
    speakers: Speakers


async def _reasons(
    memory: SearchedMemory,
    user_id: str,
    asked: _LookedFor,
    found: Mapping[str, Recalled],
    weights: Weights,
) -> dict[str, tuple[Reason, ...]]:
    """The reasons of each value by its id; the contributions add up to its similarity."""
    nearest = await _nearest_keys(memory, user_id, asked, found)
    words = list((await aside(len(asked.found.text), query_terms, asked.found.text)).values())
    because = {
        id: _because(asked, one, words, nearest.get(id, ""))
        async for id, one in in_slices(found.items())
    }
    return {
        id: tuple(
            Reason(name, value, getattr(weights, name), because[id].get(name, ()) if value else ())
            for name, value in one.signals.items()
        )
        for id, one in found.items()
    }


async def _nearest_keys(
    memory: SearchedMemory, user_id: str, asked: _LookedFor, found: Mapping[str, Recalled]
) -> dict[str, str]:
    """The text of each value's nearest key; values without keys are left out."""
    if not found:
        return {}
    keys = await memory.engine.keys(UserScope(user_id, ids=tuple(found)))
    texts = {id: memory.indexer.keys(one.record) for id, one in found.items()}
    return {
        id: texts[id][int(np.argmax(rows @ asked.found.vector))].text
        for id, rows in keys.items()
        if len(rows) and len(rows) == len(texts[id])
    }


def _because(
    asked: _LookedFor, found: Recalled, words: Sequence[str], key: str
) -> dict[str, tuple[str, ...]]:
    """The matches by signal: the key, the words, the speakers, the time."""
    record = found.record
    number, session_id = uuid.UUID(record.id).int, record.round.session_id
    in_rounds = zip(words, asked.found.words, strict=True)
    in_sessions = zip(words, asked.in_sessions, strict=True)
    return {
        "dense": (key,) if key else (),
        "words": tuple(word for word, found in in_rounds if number in found),
        "session_words": tuple(word for word, found in in_sessions if session_id in found),
        "speaker": tuple(
            sorted(
                asked.speakers & speakers_of(record.round.user_name, record.round.assistant_name)
            )
        ),
        "said_then": (asked.time_range.text,) if asked.time_range else (),
        "happened_then": _facts_then(record, asked.time_range),
    }


def _facts_then(record: Record, range_: TimeRange | None) -> tuple[str, ...]:
    """The facts that talk about a day in the range."""
    if range_ is None:
        return ()
    return tuple(
        fact.text
        for fact in record.facts
        if any(days.within(range_.days) for days in fact.event_dates)
    )
