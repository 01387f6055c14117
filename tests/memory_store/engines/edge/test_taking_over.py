"""A complete shard takes the place of the one that an assistant has open; or that one goes on."""

import asyncio
from pathlib import Path

import pytest
from memories import Steps, WideEncoder, a_store, copied, held, made_up, questions

from memory_store import MemoryStore, Query
from memory_store.embedding import Embedder
from memory_store.engines import EdgeEngine, EdgeOperator
from memory_store.errors import StoreUnavailable

QUESTIONS = questions(3)


async def is_in_use(store: MemoryStore) -> bool:
    """It answers, and keeps what it is told."""
    recall = await store.recall(Query(*QUESTIONS[0]))
    before = await store.count("user-0")
    await store.remember(made_up(151)[150:])
    return bool(recall.rounds) and await store.count("user-0") == before + 1


@pytest.mark.parametrize("coming", ["nothing", "garbage"])
async def test_where_that_fails_the_old_one_goes_on(folder: Path, coming: str) -> None:
    before = await held(EdgeOperator(folder))
    engine = EdgeEngine(folder)
    store = a_store(engine)
    await store.open()
    if coming == "garbage":
        (folder / "edge.next").mkdir()
        (folder / "edge.next" / "a file").write_text("not a memory")
    with pytest.raises(StoreUnavailable):
        await engine.go_on_with(folder / "edge.next")
    assert not (folder / "edge.gone").exists()
    assert await is_in_use(store)
    await store.close()
    assert set(before[:-1]) < set(await held(EdgeOperator(folder)))


async def test_a_crash_between_the_two_renames_is_mended_by_the_next_opening(
    folder: Path,
) -> None:
    before = await held(EdgeOperator(folder))
    store = a_store(EdgeEngine(folder))
    await store.open()
    old = copied(folder / "edge", folder / "copy")
    await store.reindex(lambda: Embedder(WideEncoder()), Steps())
    await store.close()
    # As it was after the first rename.
    (folder / "edge").rename(folder / "edge.next")
    old.rename(folder / "edge.gone")
    again = a_store(EdgeEngine(folder), WideEncoder())
    await again.open()
    assert await is_in_use(again)
    await again.close()
    assert set(before[:-1]) < set(await held(EdgeOperator(folder)))
    assert [path.name for path in folder.iterdir()] == ["edge"]


async def test_a_scrub_and_a_reindex_at_once(folder: Path) -> None:
    before = await held(EdgeOperator(folder))
    store = a_store(EdgeEngine(folder))
    await store.open()
    running = asyncio.create_task(store.reindex(lambda: Embedder(WideEncoder()), Steps()))
    while not running.done():
        assert await store.scrub()
    await running
    assert await is_in_use(store)
    await store.close()
    assert set(before[:-1]) < set(await held(EdgeOperator(folder)))
