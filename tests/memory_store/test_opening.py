"""Opening a store: one owner, one vector space, and nothing acknowledged ever lost."""

import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_store import MemoryStore, Query, Round
from memory_store.embedding import Embedder, EncoderIdentity, HashEncoder
from memory_store.engines import EdgeEngine
from memory_store.errors import StoreLocked, StoreMismatch, StoreUnavailable

CAT = Round("ann", "s1", 0, datetime(2023, 5, 20, tzinfo=UTC), "I adopted a cat called Miso.")


class OtherEncoder(HashEncoder):
    """The same vectors under another name."""

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity("other", 256)


def a_store(directory: Path, encoder: HashEncoder | None = None) -> MemoryStore:
    return MemoryStore(EdgeEngine(directory), Embedder(encoder or HashEncoder()))


async def test_memory_outlives_the_process(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    await store.open()
    await store.remember([CAT])
    await store.close()

    reopened = a_store(tmp_path)
    await reopened.open()
    recall = await reopened.recall(Query("ann", "cat"))
    assert recall.rounds[0].record.round == CAT
    await reopened.close()


async def test_a_second_owner_is_told_what_to_do(tmp_path: Path) -> None:
    owner = a_store(tmp_path)
    await owner.open()
    with pytest.raises(StoreLocked, match="--data-dir"):
        await a_store(tmp_path).open()
    await owner.remember([CAT])
    await owner.close()


async def test_another_embedder_is_refused_and_nothing_is_touched(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    await store.open()
    await store.remember([CAT])
    await store.close()

    with pytest.raises(StoreMismatch, match="'hash' in the store, 'other' now"):
        await a_store(tmp_path, OtherEncoder()).open()

    again = a_store(tmp_path)
    await again.open()
    assert await again.count("ann") == 1
    await again.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    await store.open()
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.count("ann")


async def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a directory")
    with pytest.raises(StoreUnavailable, match="file"):
        await a_store(in_the_way).open()


async def test_a_damaged_store_is_an_error_not_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "edge").mkdir()
    with pytest.raises(StoreUnavailable):
        await a_store(tmp_path).open()


WRITER = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from memory_store import MemoryStore, Round
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import EdgeEngine

async def main():
    store = MemoryStore(EdgeEngine(Path(sys.argv[1])), Embedder(HashEncoder()))
    await store.open()
    for index in range(100_000):
        date = datetime(2023, 5, 20, tzinfo=UTC)
        await store.remember([Round("ann", "s", index, date, f"I counted to {index}.")])
        print(index, flush=True)

asyncio.run(main())
"""


async def test_a_killed_process_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    with writer.stdout:
        for _ in range(200):
            acknowledged = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        acknowledged = int((writer.stdout.read().split() or [acknowledged])[-1])
    writer.wait()

    store = a_store(tmp_path)
    await store.open()
    kept = await store.session("ann", "s")
    # The one write that was under way may be there too.
    assert [record.round.round_index for record in kept] in (
        list(range(acknowledged + 1)),
        list(range(acknowledged + 2)),
    )
    recall = await store.recall(Query("ann", f"counted to {acknowledged}"))
    assert recall.rounds[0].record.round.user_text == f"I counted to {acknowledged}."
    await store.close()


async def test_no_other_account_can_read_what_was_said(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    store = MemoryStore(EdgeEngine(data), Embedder(HashEncoder()))
    await store.open()
    await store.close()
    assert data.stat().st_mode & 0o077 == 0
    assert all(found.stat().st_mode & 0o077 == 0 for found in data.iterdir())
