"""The process ends, or the engine fails, between any two writes of a call; the call is made again.

What comes of it is what would have come of it at once, on every engine.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_store import (
    Correction,
    Extraction,
    Fact,
    FactLink,
    MemoryStore,
    Query,
    Record,
    Round,
    Speaker,
)
from memory_store.embedding import (
    DiskCache,
    Embedder,
    HashEncoder,
    TextKind,
)
from memory_store.engines import Engine
from memory_store.errors import MemoryStoreError, StoreUnavailable

MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)


def said(index: int, user: str, assistant: str = "Noted.", **more: Any) -> Round:
    at = MAY + timedelta(days=index)
    return Round("ann", f"s{index}", 0, at, user, assistant, turn_ids=(f"t{index}",), **more)


LEEDS = said(0, "I live in Leeds.")
GHENT = said(1, "I moved to Ghent. I live in Ghent.")
BRUGES = said(2, "I live in Bruges.")
ASKED = said(3, "Where did I move to?", "You moved to Ghent.", repeats=(GHENT.id,))
ASKED_AGAIN = said(4, "Where, again?", "To Ghent!", repeats=(ASKED.id,))
ROUNDS = [LEEDS, GHENT, BRUGES, ASKED, ASKED_AGAIN]
TEXTS = ["I moved to Ghent.", GHENT.user_text, "You moved to Ghent."]


class Counting(HashEncoder):
    """Keeps what it was asked to encode."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], kind: TextKind) -> np.ndarray:
        self.asked += texts
        return super().encode(texts, kind)


class Life:
    """An assistant's store on a memory, with caches, that may end at a write of the engine."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.encoder = Counting()
        cache = DiskCache(folder / "vectors.sqlite", max_bytes=10_000_000)
        self._embedder = Embedder(self.encoder, disk_cache=cache)
        self.store = MemoryStore(engine, self._embedder)
        self._engine = engine
        self.writes = 0

    def end_after(self, write: int, patch: pytest.MonkeyPatch) -> None:
        """End when the engine has done this write, and do no others."""
        for name in ("upsert", "set_payload", "delete"):
            patch.setattr(self._engine, name, self._mortal(name, write))

    def _mortal(self, name: str, last: int) -> Callable[..., Awaitable[None]]:
        done: Callable[..., Awaitable[None]] = getattr(self._engine, name)

        async def write(*arguments: Any, **named: Any) -> None:
            self.writes += 1
            if self.writes <= last:
                await done(*arguments, **named)
            if self.writes >= last:
                raise StoreUnavailable("the end")

        return write

    async def kept_vectors(self) -> set[str]:
        """Of the texts about Ghent those whose vectors a cache holds."""
        self.encoder.asked.clear()
        for kind in TextKind:
            await self._embedder.embed(TEXTS, kind)
        return set(TEXTS) - set(self.encoder.asked)

    async def close(self) -> None:
        await self._embedder.close()


Call = Callable[[MemoryStore], Awaitable[object]]
MOVED = (
    Fact(
        "Ann lives in Ghent.",
        Speaker.USER,
        "m",
        supersedes=(FactLink(LEEDS.id, "I live in Leeds.", LEEDS.session_date, "m"),),
    ),
)


async def _nothing(store: MemoryStore) -> None:
    """Before the call."""


async def _told(store: MemoryStore) -> None:
    await store.remember(ROUNDS)
    await store.recall(Query("ann", GHENT.user_text))
    await store.closeness("Ghent?", TEXTS)


CALLS: dict[str, tuple[Call, Call]] = {
    "remember": (_nothing, lambda store: store.remember(ROUNDS)),
    "say again": (_told, lambda store: store.remember([replace(GHENT, assistant_text="Nice.")])),
    "enrich": (_told, lambda store: store.enrich(GHENT, Extraction("m", MOVED))),
    "undo": (_told, lambda store: store.let_supersede("ann", GHENT.id, False)),
    "put right": (
        _told,
        lambda store: store.correct("ann", GHENT.id, Correction(MAY, user_text="I saw Oslo.")),
    ),
    "put facts right": (
        _told,
        lambda store: store.correct("ann", GHENT.id, Correction(MAY, facts=())),
    ),
    "forget a round": (_told, lambda store: store.forget_round("ann", GHENT.id)),
    "forget a session": (_told, lambda store: store.forget_session("ann", "s1")),
    "forget a user": (_told, lambda store: store.forget_user("ann")),
}
FORGETTING = ("put right", "forget a round", "forget a session", "forget a user")
MOST_WRITES = 12


@pytest.fixture
async def lives(
    store: MemoryStore, engine: Engine, tmp_path: Path
) -> AsyncIterator[Callable[[], Life]]:
    """Assistants, one after the other, on one memory that none of them has opened alone."""
    made: list[Life] = []

    def live() -> Life:
        made.append(Life(engine, tmp_path / "caches"))
        return made[-1]

    yield live
    for life in made:
        await life.close()


async def outcome(store: MemoryStore) -> tuple[list[Record], list[tuple[str, float]]]:
    """All that is kept of Ann, and how her rounds rank."""
    found = await store.recall(Query("ann", "I moved to Ghent", limit=9))
    records = [replace(record, attempts=0) for record in await store.records("ann")]
    return records, [(one.record.id, round(one.similarity, 6)) for one in found.rounds]


@pytest.mark.parametrize("name", CALLS)
async def test_a_call_made_again_ends_as_it_would_have(
    lives: Callable[[], Life], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before, call = CALLS[name]
    undisturbed = lives()
    await before(undisturbed.store)
    await call(undisturbed.store)
    wanted = await outcome(undisturbed.store)
    for write in range(1, MOST_WRITES):
        await undisturbed.store.forget_user("ann")
        life = lives()
        await before(life.store)
        with monkeypatch.context() as patch:
            life.end_after(write, patch)
            try:
                await call(life.store)
                ended = False
            except MemoryStoreError:
                ended = True
        after = lives()
        await call(after.store)
        assert await outcome(after.store) == wanted, f"ended after write {write}"
        if name in FORGETTING:
            assert await after.kept_vectors() == set(), f"ended after write {write}"
        if not ended:
            return
    pytest.fail("it never ended")
