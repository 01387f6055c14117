"""What was forgotten leaves the disk; what is kept stays, also what is said meanwhile."""

import asyncio
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from damaged import a_store, all_rounds, crashed, files_with, held, told, written
from memories import copied

from memory_store import (
    Correction,
    MemoryStore,
    Query,
    Round,
    round_id,
)
from memory_store.engines import EdgeOperator
from memory_store.engines._edge import rewriting

ROUNDS = told(60)
SECRET = "Zanzibarbarian"


@pytest.fixture(scope="module")
def _told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("scrubbing") / "data", ROUNDS)


@pytest.fixture
async def store(tmp_path: Path, _told: Path) -> MemoryStore:
    store = a_store(copied(_told, tmp_path / "data"))
    await store.open()
    return store


def secret(number: int) -> Round:
    said = f"My word is {SECRET}{number}, I told you."
    return Round("eve", "s", number, ROUNDS[0].session_date, said, f"{SECRET} it is.")


async def test_nothing_forgotten_or_put_right_is_left(store: MemoryStore, tmp_path: Path) -> None:
    await store.remember([secret(0), secret(1)])
    assert files_with(tmp_path, SECRET)
    at = ROUNDS[0].session_date
    await store.correct("eve", round_id("eve", "s", 0), Correction(at, "I said nothing.", ""))
    await store.forget_round("eve", round_id("eve", "s", 1))
    assert files_with(tmp_path, SECRET)  # as before: the engine only frees the room
    assert await store.scrub()
    assert files_with(tmp_path, SECRET) == []
    before = await all_rounds(store)
    copy = crashed(tmp_path / "data", tmp_path / "crashed")
    await store.close()
    assert await held(tmp_path / "data") == await held(copy) == before
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["edge"]


async def test_an_index_that_was_kept_goes_too(store: MemoryStore, tmp_path: Path) -> None:
    await store.remember([secret(0)])
    shutil.copytree(tmp_path / "data" / "edge", tmp_path / "data" / "edge.old")
    await store.forget_user("eve")
    assert await store.scrub()
    assert files_with(tmp_path, SECRET) == []
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["edge"]
    await store.close()


async def test_searches_find_the_same(store: MemoryStore) -> None:
    query = Query("user 1", "Where do I live, and how many pears?", 20)
    before = [(one.record.id, one.similarity) for one in (await store.recall(query)).rounds]
    await store.scrub()
    after = [(one.record.id, one.similarity) for one in (await store.recall(query)).rounds]
    assert after == before
    await store.close()


async def test_it_is_done_by_itself_when_one_text_in_a_hundred_was_forgotten(
    tmp_path: Path,
) -> None:
    store = a_store(tmp_path)
    await store.open()
    await store.remember(told(250))
    assert not await store.scrub(if_due=True)
    await store.forget_round("user 0", told(1)[0].id)
    await store.forget_round("user 1", told(2)[1].id)
    assert not await store.scrub(if_due=True)
    await store.close()  # the count outlives the process
    store = a_store(tmp_path)
    await store.open()
    await store.forget_round("user 0", told(3)[2].id)
    assert await store.scrub(if_due=True)
    assert not await store.scrub(if_due=True)
    await store.close()


async def test_what_is_said_and_forgotten_meanwhile_counts(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_store.engines._edge.opening._PAGE", 4)
    said = [secret(number) for number in range(30)]

    async def talk() -> None:
        for number, round in enumerate(said):
            await store.remember([round])
            if number % 3 == 0:
                await store.forget_round("eve", round.id)
            await store.forget_round("user 0", ROUNDS[2 * number].id)

    _, scrubbed = await asyncio.gather(talk(), store.scrub())
    assert scrubbed
    after = await all_rounds(store)
    kept = [round for number, round in enumerate(said) if number % 3]
    assert {round.id for round in after} == {r.id for r in (*kept, *ROUNDS[1::2])}
    await store.close()
    assert {r.id for r in await held(tmp_path / "data")} == {r.id for r in after}


async def test_two_at_once_and_a_close_meanwhile(store: MemoryStore, tmp_path: Path) -> None:
    kept = {record.id for record in await all_rounds(store)}
    scrubbing = asyncio.gather(store.scrub(), store.scrub())
    await asyncio.sleep(0)
    await store.forget_round("user 0", ROUNDS[0].id)
    closing = asyncio.create_task(store.close())
    assert await scrubbing == [True, True]
    await closing
    left = {record.id for record in await held(tmp_path / "data")}
    assert left == kept - {ROUNDS[0].id}
    assert not [path.name for path in tmp_path.rglob("*.scrubbed")]


RENEW, SWAP, RMTREE = rewriting.Copy.renew, rewriting.swap, shutil.rmtree


class Ending:
    """Ends the process at a step of a scrub. A server that other tests share may scrub meanwhile,
    in a thread of its own: that one goes on."""

    def __init__(self, data: Path, patch: pytest.MonkeyPatch) -> None:
        self._data = data
        self._patch = patch

    def _end(self, folder: Path) -> None:
        if folder.is_relative_to(self._data):
            raise KeyboardInterrupt

    def create(self) -> None:
        async def renew(copy: rewriting.Copy, ids: Iterable[uuid.UUID]) -> None:
            self._end(copy.folder)
            await RENEW(copy, ids)

        self._patch.setattr(rewriting.Copy, "renew", renew)

    def swap(self) -> None:
        def swap(directory: Path, coming: Path, going: Path) -> None:
            self._end(directory)
            SWAP(directory, coming, going)

        self._patch.setattr(rewriting, "swap", swap)

    def rename(self) -> None:
        def swap(directory: Path, coming: Path, going: Path) -> None:
            if directory.is_relative_to(self._data):
                directory.rename(going)
            self._end(directory)
            SWAP(directory, coming, going)

        self._patch.setattr(rewriting, "swap", swap)

    def delete(self) -> None:
        def rmtree(folder: str | Path, **how: Any) -> None:
            if Path(folder).name == "edge.gone" and Path(folder).exists():
                self._end(Path(folder))
            RMTREE(folder, **how)

        self._patch.setattr(rewriting.shutil, "rmtree", rmtree)


@pytest.mark.parametrize("step", ["create", "swap", "rename", "delete"])
async def test_ended_in_between_nothing_is_lost(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    await store.remember([secret(0)])
    await store.forget_round("eve", secret(0).id)
    data = tmp_path / "data"
    with monkeypatch.context() as patch:
        getattr(Ending(data, patch), step)()
        with pytest.raises(KeyboardInterrupt):
            await store.scrub()
    copy = crashed(data, tmp_path / "crashed")
    assert await held(copy) == ROUNDS
    assert [path.name for path in copy.iterdir()] == ["edge"]
    if step in ("rename", "delete"):
        assert files_with(copy, SECRET) == []


async def test_of_a_memory_that_nobody_has_open(store: MemoryStore, tmp_path: Path) -> None:
    await store.remember([secret(0)])
    await store.forget_user("eve")
    await store.close()
    memory = EdgeOperator(tmp_path / "data")
    await memory.open_existing()
    assert await memory.scrub()
    await memory.close()
    assert files_with(tmp_path, SECRET) == []
    assert await held(tmp_path / "data") == ROUNDS


async def test_what_is_forgotten_during_a_scrub_is_due_for_the_next(
    store: MemoryStore, tmp_path: Path
) -> None:
    await store.remember([secret(0)])
    scrubbing = asyncio.create_task(store.scrub())
    while not files_with(tmp_path / "data" / "edge.scrubbed", SECRET):
        await asyncio.sleep(0)
    await store.forget_round("eve", round_id("eve", "s", 0))
    assert await scrubbing
    assert await store.scrub(if_due=True)
    assert files_with(tmp_path, SECRET) == []
    await store.close()
