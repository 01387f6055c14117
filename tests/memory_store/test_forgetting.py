"""Forgetting reaches the vectors of the texts: in memory, on disk, and not those of others."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memories import Steps, WideEncoder

from memory_store import (
    Correction,
    MemoryStore,
    Query,
    Round,
)
from memory_store.embedding import (
    DiskCache,
    Embedder,
    HashEncoder,
    TextKind,
)
from memory_store.engines import EdgeEngine
from memory_store.engines._engine import UserScope
from memory_store.errors import StoreUnavailable

MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)
CAT = Round(
    "ann", "s1", 0, MAY, "I adopted a cat. She is called Miso. Is that good?", "A fine cat!"
)
DOG = Round("ann", "s1", 1, MAY, "I walk my neighbour's dog.", "Good.")
# Its keys, the question that it was, and the sentences that were weighed against others, alone or
# with the one before.
CATS = [
    *("I adopted a cat.", CAT.user_text, "She is called Miso.", "A fine cat!"),
    "I adopted a cat. She is called Miso.",
]


class Counting(HashEncoder):
    """Keeps what it was asked to encode."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: list[str], kind: TextKind) -> np.ndarray:  # type: ignore[override]
        self.asked += texts
        return super().encode(texts, kind)


class Deaf(EdgeEngine):
    """Writes of which the answers are lost where it is deaf: they are applied all the same. Before
    each, somebody else asks for the vectors."""

    deaf = False
    embedder: Embedder

    async def upsert(self, *args: Any, **named: Any) -> None:
        await self._asked_meanwhile()
        await super().upsert(*args, **named)
        self._lose_answer()

    async def delete(self, scope: UserScope) -> None:
        await self._asked_meanwhile()
        await super().delete(scope)
        self._lose_answer()

    async def _asked_meanwhile(self) -> None:
        if self.deaf:
            for kind in TextKind:
                await self.embedder.embed(CATS, kind)

    def _lose_answer(self) -> None:
        if self.deaf:
            raise StoreUnavailable("timed out")


class Memory:
    """A store with both caches, and what it had to encode."""

    def __init__(self, folder: Path, *, forget_vectors: bool = True) -> None:
        self.encoder = Counting()
        cache = DiskCache(folder / "vectors.sqlite", max_bytes=10_000_000)
        self.embedder = Embedder(self.encoder, disk_cache=cache)
        self.engine = Deaf(folder)
        self.engine.embedder = self.embedder
        self.store = MemoryStore(self.engine, self.embedder, forget_vectors=forget_vectors)

    async def encoded(self, *texts: str) -> set[str]:
        """Which of these texts are in no cache."""
        self.encoder.asked.clear()
        for kind in TextKind:
            await self.embedder.embed(texts, kind)
        return set(self.encoder.asked)

    async def told(self) -> None:
        await self.store.open()
        await self.store.remember([CAT, DOG])
        await self.store.recall(Query("ann", CAT.user_text))
        await self.store.closeness("cat?", CATS)
        for kind in TextKind:
            await self.embedder.embed([*CATS, DOG.user_text], kind)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    memory = Memory(tmp_path)
    await memory.told()
    yield memory
    await memory.store.close()


@pytest.mark.parametrize("what", ["round", "session", "user", "correct"])
async def test_vectors_go_with_their_texts(memory: Memory, what: str) -> None:
    assert await memory.encoded(*CATS, DOG.user_text) == set()
    store = memory.store
    if what == "round":
        await store.forget_round("ann", CAT.id)
    elif what == "session":
        await store.forget_session("ann", "s1")
    elif what == "user":
        await store.forget_user("ann")
    else:
        said = Correction(MAY, user_text="I adopted a rat.", assistant_text="")
        await store.correct("ann", CAT.id, said)
    dogs = [DOG.user_text] if what in ("session", "user") else []
    assert await memory.encoded(*CATS, DOG.user_text) == {*CATS, *dogs}


@pytest.mark.parametrize("what", ["forget", "correct"])
async def test_vectors_asked_for_meanwhile_go_though_the_answer_is_lost(
    memory: Memory, what: str
) -> None:
    memory.engine.deaf = True
    said = Correction(MAY, user_text="I adopted a rat.", assistant_text="")
    going: dict[str, Callable[[], Awaitable[Any]]] = {
        "forget": lambda: memory.store.forget_round("ann", CAT.id),
        "correct": lambda: memory.store.correct("ann", CAT.id, said),
    }
    with pytest.raises(StoreUnavailable):
        await going[what]()
    assert await memory.encoded(*CATS) == set(CATS)


async def test_a_dry_run_keeps_them(memory: Memory) -> None:
    await memory.store.forget_user("ann", dry_run=True)
    assert await memory.encoded(*CATS) == set()


async def test_replays_may_keep_them(tmp_path: Path) -> None:
    memory = Memory(tmp_path, forget_vectors=False)
    await memory.told()
    await memory.store.forget_user("ann")
    assert await memory.encoded(*CATS) == set()
    await memory.store.close()


async def test_after_a_restart_they_are_still_gone(tmp_path: Path) -> None:
    before = Memory(tmp_path)
    await before.told()
    await before.store.forget_user("ann")
    await before.store.close()
    after = Memory(tmp_path)
    await after.store.open()
    assert await after.encoded(*CATS) == set(CATS)
    assert (await after.store.recall(Query("ann", "cat"))).rounds == ()
    await after.store.close()


async def test_vectors_of_an_earlier_encoder_go_with_its_index(
    memory: Memory, tmp_path: Path
) -> None:
    """Nobody would tell it later which texts are forgotten."""

    def embedder(encoder: HashEncoder) -> Embedder:
        cache = DiskCache(tmp_path / "vectors.sqlite", max_bytes=10_000_000)
        return Embedder(encoder, disk_cache=cache)

    await memory.store.reindex(lambda: embedder(WideEncoder()), Steps())
    await memory.store.forget_user("ann")
    memory.embedder = embedder(memory.encoder)
    assert await memory.encoded(*CATS, DOG.user_text) == {*CATS, DOG.user_text}
    await memory.embedder.close()
