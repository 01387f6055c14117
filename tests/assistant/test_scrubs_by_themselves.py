"""Scrubs come by themselves, when nobody is served, and do not keep a server from ending."""

import asyncio
import logging
from pathlib import Path

import pytest
from damaged import a_store, files_with, told
from memories import copied

from assistant import idle_moments
from assistant import idle_moments as module
from assistant.idle_moments import Activity, QuietMoments, Scrubbing
from memory_store import MemoryStore

ROUNDS = told(400)
SCRUBBED = "forgotten text removed from disk"
# Counted by the user who is forgotten.
SAID = "I counted 398 pears"


@pytest.fixture(autouse=True)
def _shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_moments, "_SECONDS_BETWEEN", 0.01)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    async def write(folder: Path) -> None:
        store = a_store(folder)
        await store.open()
        await store.remember(ROUNDS)
        await store.close()

    folder = tmp_path_factory.mktemp("written")
    asyncio.run(write(folder))
    return folder


@pytest.fixture
async def store(tmp_path: Path, written: Path) -> MemoryStore:
    """One of whose users has been forgotten, which is worth a scrub."""
    store = a_store(copied(written, tmp_path / "data"))
    await store.open()
    await store.forget_user("user 0")
    return store


async def test_it_waits_for_a_quiet_moment(
    store: MemoryStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    running = 1
    scrubbing = Scrubbing(store, QuietMoments(lambda: Activity(0, running)), pause_seconds=0.0)
    scrubbing.forgotten()
    await asyncio.sleep(0.3)
    assert files_with(tmp_path, SAID)
    running = 0
    async with asyncio.timeout(30):
        while SCRUBBED not in caplog.text:
            await asyncio.sleep(0.01)
    assert files_with(tmp_path, SAID) == []
    await scrubbing.close()
    await store.close()


async def test_a_scrub_under_way_is_given_up_at_the_end_and_due_again(
    store: MemoryStore, tmp_path: Path
) -> None:
    scrubbing = Scrubbing(store, QuietMoments(lambda: Activity(0, 0)), pause_seconds=0.0)
    scrubbing.forgotten()
    async with asyncio.timeout(30):
        while not (tmp_path / "data" / "edge.scrubbed").exists():
            await asyncio.sleep(0)
    await scrubbing.close()
    await store.close()
    again = a_store(tmp_path / "data")
    await again.open()
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["edge"]
    assert await again.scrub(if_due=True)
    assert files_with(tmp_path, SAID) == []
    assert (await again.count("user 1")) == 200
    await again.close()


async def test_who_forgets_again_and_again_does_not_put_it_off_for_ever(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(module, "_LONGEST_PUT_OFF", 0.3)
    scrubbing = Scrubbing(store, QuietMoments(lambda: Activity(0, 1)), pause_seconds=0.2)
    async with asyncio.timeout(30):
        while SCRUBBED not in caplog.text:
            scrubbing.forgotten()
            await asyncio.sleep(0.1)
    await scrubbing.close()
    await store.close()
