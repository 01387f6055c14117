"""Views of several users at once, and what their making takes."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from assistant.designs.design import Design, Tools
from assistant.designs.registry import choices_of
from assistant.designs.summaries import Summariser
from assistant.designs.value import View
from assistant.designs.views import Views
from memory_store import MemoryStore, Query, Recall, Record, Round
from memory_store.embedding import Embedder, HashEncoder, Matrix, TextKind
from memory_store.engines import EdgeEngine

USERS = ("ann", "bob")
# Far more than the rest takes, and little to wait for.
SECONDS = 0.2
SAID_AT = datetime(2024, 3, 1, 20, tzinfo=UTC)


class SlowEncoder(HashEncoder):
    """Takes its time for documents."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        time.sleep(SECONDS)
        return super().encode(texts, kind)


class Together(Design):
    """Makes no view before those of all users are being made."""

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools, choices_of("in-context-rag", {}))
        self.begun = asyncio.Barrier(len(USERS))

    async def view(self, records: Sequence[Record]) -> View:
        await self.begun.wait()
        return await super().view(records)


@asynccontextmanager
async def store_of(folder: Path, embedder: Embedder) -> AsyncIterator[MemoryStore]:
    store = MemoryStore(EdgeEngine(folder), embedder)
    await store.open()
    for user in USERS:
        await store.remember([Round(user, "s", 0, SAID_AT, f"{user} was in Ghent.", "Nice.")])
    try:
        yield store
    finally:
        await store.close()


def tools_of(store: MemoryStore, embedder: Embedder) -> Tools:
    return Tools(embedder, store.language, Summariser(store.language))


async def found(views: Views, user: str) -> Recall:
    return await views.recall(Query(user, "Ghent?", asked_on=date(2024, 3, 2)))


async def test_no_user_waits_for_the_view_of_another(tmp_path: Path) -> None:
    async with store_of(tmp_path, Embedder(HashEncoder())) as store:
        views = Views(store, Together(tools_of(store, store.embedder)))
        async with asyncio.timeout(10):
            recalls = await asyncio.gather(*(found(views, user) for user in USERS))
    assert [len(recall.rounds) for recall in recalls] == [1, 1]


async def test_the_making_of_a_view_is_timed_apart_from_its_vectors(tmp_path: Path) -> None:
    slow = Embedder(SlowEncoder())
    async with store_of(tmp_path, Embedder(HashEncoder())) as store:
        tools = tools_of(store, slow)
        views = Views(store, Design(tools, choices_of("in-context-rag", {})))
        first = (await found(views, "ann")).timings
        again = (await found(views, "ann")).timings
        await slow.close()
    assert first["embed_ms"] >= SECONDS * 1000
    assert 0 < first["index_ms"] < SECONDS * 1000
    assert (again["embed_ms"], again["index_ms"]) == (0, 0)
