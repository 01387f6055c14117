"""The views of a design: one for each user, made when asked for, kept until the rounds change."""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from weakref import WeakValueDictionary

from assistant.designs.design import Design, vectors_awaited
from assistant.designs.value import Ranking, View, ViewQuestion
from memory_store import (
    Days,
    Fact,
    MemoryReader,
    Query,
    Reach,
    Recall,
    Recalled,
    RecalledSession,
    Record,
    holds,
    standing_on,
)
from memory_store.scheduler import aside

_MOST_VIEWS = 32


class Views:
    """Recalls for questions by a design; a `Retriever` uses it in place of the store."""

    def __init__(self, store: MemoryReader, design: Design) -> None:
        self._store = store
        self._design = design
        self._closer: dict[Reach, Views] = {}
        self._views: OrderedDict[tuple[str, bytes], View] = OrderedDict()
        # Two questions of a user at once would make the same view twice.
        self._making: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def seen_up_to(self, reach: Reach) -> "Views":
        """See `MemoryReader.seen_up_to`."""
        if reach not in self._closer:
            self._closer[reach] = Views(self._store.seen_up_to(reach), self._design)
        return self._closer[reach]

    async def recall(self, query: Query) -> Recall:
        """See `MemoryReader.recall`. `rounds` are those behind the values; `values` are read."""
        started = time.perf_counter()
        records = _within(await self._store.records(query.user_id), query.days)
        today = min((day for day in (query.days.last, query.asked_on) if day), default=None)
        records = [standing_on(record, today) for record in records]
        if query.where:
            records = [one for one in records if holds(one.round.labels, query.where)]
        range_ = query.time_range
        if range_ is None and query.asked_on:
            language = self._store.language
            range_ = await aside(len(query.text), language.time_range, query.text, query.asked_on)
        async with self._making.setdefault(query.user_id, asyncio.Lock()):
            view, made = await self._view(query.user_id, records)
        indexed = time.perf_counter()
        ranking = Ranking(())
        if view is not None:
            wanted = max(query.limit, query.short_limit)
            ranking = await view.search(ViewQuestion(query.text, query.asked_on, range_, wanted))
        finished = time.perf_counter()
        values = [one for r in ranking.values for one in r.value.read(r.similarity, r.signals)]
        rounds = _rounds(ranking)
        return Recall(
            rounds=tuple(rounds),
            sessions=_sessions(rounds)[: query.limit] if query.sessions else (),
            timings={
                **made,
                "search_ms": (finished - indexed) * 1000,
                "total_ms": (finished - started) * 1000,
            },
            time_range=range_,
            fell_back=ranking.fell_back,
            values=tuple(values),
            steps=ranking.steps,
        )

    async def _view(
        self, user_id: str, records: Sequence[Record]
    ) -> tuple[View | None, dict[str, float]]:
        """The view (None without records), and how long its making took now: the milliseconds for
        vectors (`embed_ms`) and for all else (`index_ms`)."""
        took = {"embed_ms": 0.0, "index_ms": 0.0}
        if not records:
            return None, took
        key = user_id, await aside(sum(r.round.size for r in records) // 8, _digest, records)
        if key not in self._views:
            for stale in [other for other in self._views if other[0] == user_id][:-1]:
                del self._views[stale]
            started = time.perf_counter()
            with vectors_awaited() as awaited:
                self._views[key] = await self._design.view(records)
            seconds = time.perf_counter() - started - awaited.seconds
            took = {"embed_ms": awaited.seconds * 1000, "index_ms": seconds * 1000}
        view = self._views[key]
        self._views.move_to_end(key)
        while len(self._views) > _MOST_VIEWS:
            self._views.popitem(last=False)
        return view, took


def _within(records: Iterable[Record], days: Days) -> list[Record]:
    """The rounds said within the days, as they stood at their end."""
    if days == Days():
        return list(records)
    found = []
    for record in records:
        if record.round.was_said_on(days):
            facts = tuple(_as_of(fact, days) for fact in record.facts)
            found.append(replace(record, facts=facts))
    return found


def _as_of(fact: Fact, days: Days) -> Fact:
    """A fact as it stood at the end of the days: what was said later has not replaced it yet."""
    by = fact.superseded_by
    is_later = by and days.last and by.said_at.date() > days.last
    return replace(fact, superseded_by=None) if is_later else fact


def _digest(records: Sequence[Record]) -> bytes:
    """A digest of the rounds with all that is kept of them, which tells any two memories apart."""
    return hashlib.sha256("\0".join(map(repr, records)).encode()).digest()


def _rounds(ranking: Ranking) -> list[Recalled]:
    """The rounds behind the values, each where it comes first."""
    rounds: dict[str, Recalled] = {}
    for ranked in ranking.values:
        for record in ranked.nearest or ranked.value.sources:
            rounds.setdefault(record.id, Recalled(record, ranked.similarity, ranked.signals))
    return list(rounds.values())


def _sessions(rounds: Iterable[Recalled]) -> tuple[RecalledSession, ...]:
    sessions: dict[str, list[Recalled]] = {}
    for found in rounds:
        sessions.setdefault(found.record.round.session_id, []).append(found)
    return tuple(
        RecalledSession(session_id, found[0].similarity, tuple(found))
        for session_id, found in sessions.items()
    )
