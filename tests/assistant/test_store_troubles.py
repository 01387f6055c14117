"""What can be wrong with the place of a memory: a clear error, the data untouched, and a server
that goes on and works again when the cause is gone."""

import asyncio
import os
import subprocess
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from calls import assert_error, record, rounds
from commands import Server
from in_process import Run
from memories import in_use

from memory_store import MemoryStore, Round
from memory_store._disk import FOR_WRITING
from memory_store._identity import SCHEMA_VERSION
from memory_store.embedding import Embedder, EncoderIdentity, HashEncoder
from memory_store.engines import EdgeEngine
from memory_store.errors import StoreFull, StoreMismatch, StoreReadOnly

TEA = Round("ann", "s", 0, datetime(2023, 5, 20, tzinfo=UTC), "I like tea.")
MIB = 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of 400 MiB; only root may make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", disk], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


class Ballast:
    """A file that takes all but so many bytes of the disk."""

    def __init__(self, disk: Path) -> None:
        self._disk = disk
        self._path = disk / "ballast"

    def leave(self, free: int) -> None:
        found = os.statvfs(self._disk)
        size = found.f_bavail * found.f_frsize - free
        with self._path.open("ab") as file:
            os.posix_fallocate(file.fileno(), file.tell(), size)

    def drop(self) -> None:
        self._path.unlink()


def a_store(directory: Path, encoder: HashEncoder | None = None) -> MemoryStore:
    return MemoryStore(EdgeEngine(directory), Embedder(encoder or HashEncoder()))


async def with_tea(directory: Path) -> None:
    store = a_store(directory)
    await store.open()
    await store.remember([TEA])
    await store.close()


async def kept(directory: Path) -> list[Round]:
    store = a_store(directory)
    await store.open()
    records = await store.session("ann", "s")
    await store.close()
    return [record.round for record in records]


def contents(directory: Path) -> dict[Path, int | None]:
    """Everything in a directory, the files with a checksum; a quick one, for some 200 MB."""
    return {
        path: zlib.crc32(path.read_bytes()) if path.is_file() else None
        for path in directory.rglob("*")
    }


async def test_a_full_disk_takes_nothing_new_and_loses_nothing(small_disk: Path) -> None:
    store, ballast = a_store(small_disk), Ballast(small_disk)
    await store.open()
    await store.remember([TEA, Round("ann", "t", 0, TEA.session_date, "And cake.")])
    ballast.leave(FOR_WRITING // 2 + MIB)
    another = Round("ann", "s", 1, TEA.session_date, "And coffee.")
    with pytest.raises(StoreFull, match=r"[Ff]ree some space.*assistant check"):
        await store.remember([another])
    assert [record.round for record in await store.session("ann", "s")] == [TEA]
    # Forgetting makes room, so it needs less.
    assert (await store.forget_session("ann", "t")).rounds == 1
    ballast.leave(0)
    with pytest.raises(StoreFull):
        await store.forget_user("ann")
    ballast.drop()
    await store.remember([TEA, another])
    await store.close()
    assert await kept(small_disk) == [TEA, another]


async def test_a_disk_that_fills_up_while_rounds_are_written(small_disk: Path) -> None:
    store = a_store(small_disk)
    await store.open()
    Ballast(small_disk).leave(FOR_WRITING + 8 * MIB)
    written: list[Round] = []

    async def write_on() -> None:
        while len(written) < 10_000:
            text = f"I counted to {len(written)}. " + "tea " * 5000
            rounds = [
                Round("ann", "s", len(written) + n, TEA.session_date, text) for n in range(20)
            ]
            await store.remember(rounds)
            written.extend(rounds)

    with pytest.raises(StoreFull):
        await write_on()
    held = await store.count("ann")
    await store.close()
    found = await kept(small_disk)
    # Of those that were being written the first may be there, too; nobody was told so.
    assert (len(found), found[: len(written)]) == (held, written)
    assert len(written) <= held < len(written) + 20


async def test_a_full_disk_at_the_start(small_disk: Path) -> None:
    ballast = Ballast(small_disk)
    ballast.leave(MIB)
    with pytest.raises(StoreFull, match="full"):
        await a_store(small_disk).open()
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]
    ballast.drop()
    await with_tea(small_disk)
    ballast.leave(MIB)
    before = contents(small_disk)
    with pytest.raises(StoreFull):
        await a_store(small_disk).open()
    assert contents(small_disk) == before
    ballast.drop()
    assert await kept(small_disk) == [TEA]


def test_over_http_a_full_disk_is_507_until_there_is_space(small_disk: Path) -> None:
    server, ballast = Server(small_disk / "data"), Ballast(small_disk)
    server.start()
    try:
        with httpx.Client(base_url=server.url, timeout=30) as http:
            record(http, "ann", "s", "I like tea.", "Noted.")
            ballast.leave(MIB)
            refused = record(http, "ann", "s", "And coffee.", timestamp="2023-05-21T10:00:00Z")
            error = assert_error(refused, 507, "server_error", "storage_full")
            assert "assistant check" in error["message"]
            assert refused.headers["x-should-retry"] == "false"
            assert http.get("/health").status_code == 200
            ready = http.get("/ready")
            assert (ready.status_code, "full" in ready.json()["checks"]["disk"]) == (503, True)
            assert rounds(http, "ann", "s") == [("I like tea.", "Noted.")]
            ballast.drop()
            again = record(http, "ann", "s", "And coffee.", timestamp="2023-05-21T10:00:00Z")
            assert again.status_code == 200
            assert http.get("/ready").status_code == 200
            assert rounds(http, "ann", "s") == [("I like tea.", "Noted."), ("And coffee.", "")]
    finally:
        assert server.end() == 0


@pytest.fixture
def read_only(small_disk: Path) -> Iterator[Path]:
    """A memory with one round on a disk that was made read-only."""
    asyncio.run(with_tea(small_disk))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    yield small_disk
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)


@pytest.mark.parametrize("where", [".", "new"])
def test_a_read_only_directory(
    run: Run, read_only: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")
    before = contents(read_only)
    done = run("serve", "--port", "0", "--data-dir", read_only / where)
    assert done.code == 2
    assert "cannot write to" in done.err
    assert "assistant check" in done.err
    assert "Traceback" not in done.err
    done = run("check", "--data-dir", read_only / where)
    assert (done.code, done.err) == (1, "")
    assert "memory: PROBLEM: cannot write to" in done.out
    assert contents(read_only) == before


async def test_a_read_only_directory_is_an_error_of_its_own(read_only: Path) -> None:
    with pytest.raises(StoreReadOnly, match="--data-dir"):
        await a_store(read_only).open()


def test_check_explains_each(small_disk: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")

    def check(data_dir: Path) -> tuple[int, str]:
        done = run("check", "--data-dir", data_dir)
        assert done.err == ""
        return done.code, done.out

    memory, ballast = small_disk / "data", Ballast(small_disk)
    assert "none yet" in check(memory)[1]
    assert not memory.exists()
    asyncio.run(with_tea(memory))
    assert "\nmemory: ok" in check(memory)[1]
    ballast.leave(MIB)
    assert "Free some space" in check(memory)[1]
    ballast.drop()
    asyncio.run(marked(memory, schema_version=1))
    assert "assistant reindex" in check(memory)[1]
    asyncio.run(marked(memory, schema_version=SCHEMA_VERSION + 1))
    assert "newer version" in check(memory)[1]
    asyncio.run(marked(memory, schema_version=SCHEMA_VERSION))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert "cannot write to" in check(memory)[1]
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)


def test_check_of_a_memory_in_use(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")
    with in_use(tmp_path):
        done = run("check", "--data-dir", tmp_path)
        assert (done.code, done.err) == (1, "")
        assert "in use by another process" in done.out
    assert run("check", "--data-dir", tmp_path).code == 0


async def marked(directory: Path, schema_version: int) -> None:
    """Make the memory say that another version wrote it."""
    engine = EdgeEngine(directory)
    identity = await engine.open(HashEncoder().identity.dimension)
    assert identity is not None
    await engine.write_identity(dict(identity) | {"schema_version": schema_version})
    await engine.close()


@pytest.mark.parametrize(
    ("version", "help"), [(1, "assistant reindex"), (SCHEMA_VERSION + 1, "newer version")]
)
async def test_another_schema_leaves_the_data_as_it_is(
    tmp_path: Path, version: int, help: str
) -> None:
    await with_tea(tmp_path)
    await marked(tmp_path, version)
    with pytest.raises(StoreMismatch):
        await a_store(tmp_path).open()  # moves what the log holds into the segments
    before = contents(tmp_path)
    with pytest.raises(StoreMismatch, match=help):
        await a_store(tmp_path).open()
    assert contents(tmp_path) == before


class OtherEncoder(HashEncoder):
    """The same vectors under another name."""

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity("other", 256)


async def test_another_embedder_leaves_the_data_as_it_is(tmp_path: Path) -> None:
    await with_tea(tmp_path)
    await kept(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(StoreMismatch, match="assistant reindex"):
        await a_store(tmp_path, OtherEncoder()).open()
    assert contents(tmp_path) == before
    assert await kept(tmp_path) == [TEA]
