"""The cache on disk: survives, stays small, is shared, and no damage to it reaches anybody."""

import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memory_store.embedding import (
    DiskCache,
    Embedder,
    EncoderIdentity,
    HashEncoder,
    TextKind,
)
from memory_store.embedding.cache import Vector

DOCUMENT = TextKind.DOCUMENT
MEGABYTE = 1024 * 1024
DIMENSION = 384


def vectors(first: int, count: int) -> dict[bytes, Vector]:
    """Numbered keys, each with a vector of its own."""
    return {
        number.to_bytes(16, "big"): np.full(DIMENSION, number, np.float32)
        for number in range(first, first + count)
    }


def numbers(cache: DiskCache, count: int) -> list[int]:
    """Which of the numbered vectors are there, each checked to be the right one."""
    wanted = vectors(0, count)
    found = cache.get(list(wanted))
    assert all(np.array_equal(found[key], wanted[key]) for key in found)
    return sorted(int.from_bytes(key, "big") for key in found)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "vectors.sqlite"


def filled(file: Path, count: int = 20) -> None:
    cache = DiskCache(file, max_bytes=MEGABYTE)
    cache.put(vectors(0, count))
    cache.close()


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_it_outlives_the_process_that_filled_it(file: Path) -> None:
    filled(file)
    again = DiskCache(file, max_bytes=MEGABYTE)
    assert numbers(again, 30) == list(range(20))
    again.close()


def test_more_keys_than_a_statement_takes(file: Path) -> None:
    cache = DiskCache(file, max_bytes=10 * MEGABYTE)
    cache.put(vectors(0, 2500))
    assert len(numbers(cache, 2600)) == 2500
    cache.close()


def test_the_oldest_go_when_it_is_full(file: Path) -> None:
    cache = DiskCache(file, max_bytes=MEGABYTE)
    for first in range(0, 3000, 50):
        cache.put(vectors(first, 50))
    kept = numbers(cache, 3000)
    cache.close()
    assert kept == list(range(kept[0], 3000))
    assert 500 < len(kept) < MEGABYTE // (4 * DIMENSION)
    assert file.stat().st_size <= MEGABYTE


def test_a_smaller_limit_shrinks_the_file(file: Path) -> None:
    cache = DiskCache(file, max_bytes=4 * MEGABYTE)
    cache.put(vectors(0, 2000))
    cache.close()
    assert file.stat().st_size > 2 * MEGABYTE

    cache = DiskCache(file, max_bytes=MEGABYTE)
    cache.put(vectors(2000, 1))
    assert numbers(cache, 2001)[-1] == 2000
    cache.close()
    assert file.stat().st_size <= MEGABYTE


def test_of_what_is_forgotten_nothing_stays_in_the_file(file: Path) -> None:
    cache = DiskCache(file, max_bytes=MEGABYTE)
    cache.put(vectors(0, 20))
    bytes_of_a_vector = np.full(64, 7, "<f4").tobytes()

    def on_disk() -> bytes:
        return b"".join(part.read_bytes() for part in file.parent.iterdir())

    assert bytes_of_a_vector in on_disk()
    cache.forget([*vectors(7, 2), b"never kept"])
    assert numbers(cache, 20) == [n for n in range(20) if n not in (7, 8)]
    assert bytes_of_a_vector not in on_disk()
    cache.close()
    assert bytes_of_a_vector not in on_disk()


def test_no_room_at_all_is_no_cache(file: Path) -> None:
    cache = DiskCache(file, max_bytes=1)
    cache.put(vectors(0, 5))
    assert numbers(cache, 5) == []
    cache.close()


def overwritten(file: Path) -> None:
    file.write_bytes(b"no database " * 1000)


def cut_off(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def garbled_inside(file: Path) -> None:
    content = bytearray(file.read_bytes())
    half = len(content) // 2
    content[half:] = bytes(byte ^ 0xFF for byte in content[half:])
    file.write_bytes(content)


def one_bit_flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    inside = content.index(np.full(4, 7, "<f4").tobytes())
    content[inside] ^= 1
    file.write_bytes(content)


def of_another_version(file: Path) -> None:
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


@pytest.mark.parametrize(
    "damage", [overwritten, cut_off, garbled_inside, one_bit_flipped, of_another_version]
)
def test_a_damaged_file_is_begun_anew_and_that_is_said_once(
    file: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    filled(file)
    damage(file)
    cache = DiskCache(file, max_bytes=MEGABYTE)
    assert numbers(cache, 20) == []
    cache.put(vectors(0, 20))
    assert numbers(cache, 20) == list(range(20))
    cache.close()
    (said,) = warnings_in(caplog)
    assert str(file) in said
    assert "begun anew" in said


def in_the_way_of_the_folder(file: Path) -> None:
    file.parent.write_text("a file")


def in_the_way_of_the_file(file: Path) -> None:
    file.mkdir(parents=True)


def without_permission(file: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    file.parent.mkdir(mode=0o500)


def read_only(file: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    filled(file)
    file.chmod(0o400)
    file.parent.chmod(0o500)


def owned_by_a_writer_that_hangs(file: Path) -> sqlite3.Connection:
    filled(file, 0)
    writer = sqlite3.connect(file)
    writer.execute("BEGIN IMMEDIATE")
    return writer


@pytest.mark.parametrize(
    "obstacle",
    [
        in_the_way_of_the_folder,
        in_the_way_of_the_file,
        without_permission,
        read_only,
        owned_by_a_writer_that_hangs,
    ],
)
async def test_where_it_cannot_write_texts_are_encoded_and_that_is_said_once(
    file: Path,
    obstacle: Callable[[Path], sqlite3.Connection | None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    writer = obstacle(file)
    embedder = Embedder(HashEncoder(), disk_cache=DiskCache(file, max_bytes=MEGABYTE))
    for text in ("one", "two"):
        rows = await embedder.embed([text], DOCUMENT)
        assert np.array_equal(rows, HashEncoder().encode([text], DOCUMENT))
    await embedder.close()
    if writer is not None:
        writer.close()
    (said,) = warnings_in(caplog)
    assert str(file) in said
    assert "encoded again instead" in said


class CountingEncoder(HashEncoder):
    """Remembers what it was asked, under a name of its own."""

    def __init__(self, name: str = "counting", *, kinds_alike: bool = False) -> None:
        self.name = name
        self.kinds_alike = kinds_alike
        self.asked: list[str] = []

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity(self.name, 256, self.kinds_alike)

    def encode(self, texts: object, kind: TextKind) -> Vector:
        assert isinstance(texts, list)
        self.asked += texts
        return super().encode(texts, kind)


async def embedded(
    file: Path, encoder: CountingEncoder, texts: list[str], kind: TextKind
) -> Vector:
    """What a new process would get, with nothing in memory."""
    embedder = Embedder(encoder, disk_cache=DiskCache(file, max_bytes=MEGABYTE))
    rows = await embedder.embed(texts, kind)
    await embedder.close()
    return rows


async def test_after_a_restart_only_new_texts_are_encoded(file: Path) -> None:
    before, after = CountingEncoder(), CountingEncoder()
    first = await embedded(file, before, ["a", "b", "a"], DOCUMENT)
    second = await embedded(file, after, ["b", "c", "a"], DOCUMENT)
    assert sorted(before.asked) == ["a", "b"]
    assert after.asked == ["c"]
    assert np.array_equal(second[[2, 0]], first[[0, 1]])


async def test_a_text_is_encoded_once_where_kinds_are_alike() -> None:
    embedder = Embedder(alike := CountingEncoder(kinds_alike=True))
    rows = [await embedder.embed(["a"], kind) for kind in TextKind]
    await embedder.close()
    assert alike.asked == ["a"]
    assert np.array_equal(*rows)


async def test_another_kind_and_another_encoder_share_nothing(file: Path) -> None:
    await embedded(file, CountingEncoder(), ["a"], DOCUMENT)
    asking, other = CountingEncoder(), CountingEncoder("other")
    await embedded(file, asking, ["a"], TextKind.QUERY)
    await embedded(file, other, ["a"], DOCUMENT)
    assert asking.asked == other.asked == ["a"]


async def test_it_counts_what_came_from_disk(file: Path) -> None:
    await embedded(file, CountingEncoder(), ["a", "b"], DOCUMENT)
    cache = DiskCache(file, max_bytes=MEGABYTE)
    embedder = Embedder(CountingEncoder(), disk_cache=cache, cached_texts=1)
    await embedder.embed(["a", "b", "c"], DOCUMENT)
    await embedder.close()
    stats = embedder.stats
    assert (stats.texts, stats.from_disk, stats.encoded) == (3, 2, 1)


WRITER = """
import sys
from collections.abc import Callable
from pathlib import Path
import numpy as np
from memory_store.embedding import DiskCache

cache = DiskCache(Path(sys.argv[1]), max_bytes=8 * 1024 * 1024)
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 300):
    cache.put({number.to_bytes(16, "big"): np.full(384, number, np.float32)})
cache.close()
"""


def test_processes_share_it(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(file), first], stderr=subprocess.PIPE)
        for first in ("0", "200")
    ]
    said = [writer.communicate()[1] for writer in writers]
    cache = DiskCache(file, max_bytes=8 * MEGABYTE)
    kept = numbers(cache, 500)
    cache.close()
    # A writer that found the file busy for long leaves a vector out; none may be wrong.
    assert len(kept) > 400
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(kept) == 500 or any(b"database is locked" in one for one in said)
    assert warnings_in(caplog) == []


def test_a_killed_process_leaves_what_it_kept(file: Path) -> None:
    endless = WRITER.replace("+ 300", "+ 1_000_000").replace("cache.close()", "")
    endless = endless.replace("    cache.put(", "    print(number, flush=True)\n    cache.put(")
    with subprocess.Popen(
        [sys.executable, "-c", endless, str(file), "0"], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for _ in range(100):
            started = int(writer.stdout.readline())
        writer.kill()
    cache = DiskCache(file, max_bytes=8 * MEGABYTE)
    assert numbers(cache, started) == list(range(started))
    cache.close()
