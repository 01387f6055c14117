"""Why a value ranks where it does: what each signal added to its similarity, and what matched."""

import uuid
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory_store.embedding.cache import Vector
from memory_store.engines.engine import Engine, Scope
from memory_store.indexing import Indexer
from memory_store.language.words import query_terms
from memory_store.recall.fusion import Weights
from memory_store.recall.speakers import Speakers, speakers_of
from memory_store.scheduler import aside, in_slices
from memory_store.time import TimeRange
from memory_store.types import Reason, Recalled, Record


@dataclass(frozen=True, slots=True)
class LookedFor:
    """What a recall looked for: the text searched, its vector, the time and the speakers that the
    query names, and for each word the rounds and sessions that hold it."""

    user_id: str
    text: str
    vector: Vector
    time_range: TimeRange | None
    speakers: Speakers
    in_rounds: Sequence[Container[int]]
    in_sessions: Sequence[Container[str]]


async def reasons(
    engine: Engine,
    indexer: Indexer,
    asked: LookedFor,
    found: Mapping[str, Recalled],
    weights: Weights,
) -> dict[str, tuple[Reason, ...]]:
    """The reasons of each value found, by its id; the contributions of one are its similarity."""
    nearest = await _nearest_keys(engine, indexer, asked, found)
    words = list((await aside(len(asked.text), query_terms, asked.text)).values())
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
    engine: Engine, indexer: Indexer, asked: LookedFor, found: Mapping[str, Recalled]
) -> dict[str, str]:
    """The text of each value's nearest key; none where it has no keys."""
    if not found:
        return {}
    keys = await engine.keys(Scope(asked.user_id, ids=tuple(found)))
    texts = {id: indexer.keys(one.record) for id, one in found.items()}
    return {
        id: texts[id][int(np.argmax(rows @ asked.vector))].text
        for id, rows in keys.items()
        if len(rows) and len(rows) == len(texts[id])
    }


def _because(
    asked: LookedFor, found: Recalled, words: Sequence[str], key: str
) -> dict[str, tuple[str, ...]]:
    """What matched, by signal: the key, the words, the time."""
    record = found.record
    number, session_id = uuid.UUID(record.id).int, record.round.session_id
    in_rounds = zip(words, asked.in_rounds, strict=True)
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
