"""Acknowledged means on the disk, and many writers share one call to it."""

import asyncio
import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_store._gate import Gate
from memory_store.engines import Durability
from memory_store.engines._edge import sync
from memory_store.engines._edge.ledger import Account, EntryKind, Ledger, LedgerEntry, read_ledger
from memory_store.engines._edge.sync import Commits, Log


def entry(write: int) -> LedgerEntry:
    return LedgerEntry(EntryKind.HELD, write, write.to_bytes(16), bytes(8))


class Disk:
    """Counts what is put on the disk, and waits with it until it may."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.may = threading.Event()
        self.may.set()
        self.fails = False
        self._sync: Callable[[int], None] = os.fdatasync

    def sync(self, file: int) -> None:
        self.calls.append(Path(os.readlink(f"/proc/self/fd/{file}")).name)
        self.may.wait()
        if self.fails:
            raise OSError(errno.EIO, "the disk fails")
        self._sync(file)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(os, "fdatasync", disk.sync)
    return disk


def commits(folder: Path, durability: Durability = Durability.SYNC) -> Commits:
    (folder / "wal").mkdir()
    (folder / "wal" / "open-1").write_bytes(b"log")
    return Commits(folder / "wal", Ledger.create(folder / "l", Account()), durability)


def told(folder: Path) -> int:
    account = read_ledger(folder / "l")
    assert account is not None
    return len(account.held)


async def test_a_write_is_in_the_ledger_when_the_log_is_on_the_disk(
    tmp_path: Path, disk: Disk
) -> None:
    log = commits(tmp_path)
    log.add([entry(1)])
    disk.may.clear()
    waiting = asyncio.create_task(log.durable())
    while not disk.calls:
        await asyncio.sleep(0.001)
    assert (waiting.done(), told(tmp_path)) == (False, 0)
    disk.may.set()
    await waiting
    assert (disk.calls, told(tmp_path)) == (["open-1"], 1)


async def test_those_who_arrive_meanwhile_share_the_next_call(tmp_path: Path, disk: Disk) -> None:
    log = commits(tmp_path)
    disk.may.clear()
    first = asyncio.create_task(log.durable())
    while not disk.calls:
        await asyncio.sleep(0.001)
    others = []
    for write in range(2, 42):
        log.add([entry(write)])
        others.append(asyncio.create_task(log.durable()))
    others[0].cancel()  # a client that leaves takes nobody with it
    await asyncio.sleep(0.01)
    disk.may.set()
    await first
    await asyncio.gather(*others[1:])
    assert (disk.calls, told(tmp_path)) == (["open-1"] * 2, 40)


async def test_a_disk_that_fails_is_believed_no_more(tmp_path: Path, disk: Disk) -> None:
    log = commits(tmp_path)
    log.add([entry(1)])
    disk.fails = True
    with pytest.raises(OSError, match="the disk fails"):
        await log.durable()
    disk.fails = False
    with pytest.raises(OSError, match="the disk fails"):
        await log.durable()
    assert told(tmp_path) == 0


async def test_without_syncing_the_ledger_still_tells(tmp_path: Path, disk: Disk) -> None:
    log = commits(tmp_path, Durability.OS)
    log.add([entry(1)])
    await log.durable()
    assert (disk.calls, told(tmp_path)) == ([], 1)


def test_files_of_the_log_that_are_full_are_put_on_the_disk_once(
    tmp_path: Path, disk: Disk
) -> None:
    log = Log(tmp_path)
    for name in ("open-1", "open-2"):
        (tmp_path / name).write_bytes(b"log")
    log.sync()
    (tmp_path / "open-1").rename(tmp_path / "closed-0")
    (tmp_path / "open-3").write_bytes(b"log")
    log.sync()
    log.sync()
    assert sorted(disk.calls[:2]) == ["open-1", "open-2"]
    assert sorted(disk.calls[2:5]) == ["closed-0", "open-2", "open-3"]
    assert sorted(disk.calls[5:]) == ["open-2", "open-3"]


def test_a_file_that_gets_another_name_meanwhile_is_not_missed(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open-1").write_bytes(b"log")
    plain = sync.sync_file

    def renamed_before(path: Path) -> None:
        if path.name == "open-1":
            path.rename(tmp_path / "closed-0")
        plain(path)

    monkeypatch.setattr(sync, "sync_file", renamed_before)
    Log(tmp_path).sync()
    assert disk.calls == ["closed-0"]


async def test_who_must_be_alone_waits_for_the_others_and_they_for_it() -> None:
    gate, order = Gate(), list[str]()

    async def write(name: str, until: asyncio.Event) -> None:
        async with gate.beside_others():
            order.append(f"{name} in")
            await until.wait()
            order.append(f"{name} out")

    async def alone() -> None:
        async with gate.alone():
            order.append("alone")

    first, second, free = asyncio.Event(), asyncio.Event(), asyncio.Event()
    free.set()
    tasks = [asyncio.create_task(write("a", first)), asyncio.create_task(write("b", second))]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(alone()), asyncio.create_task(write("c", free))]
    await asyncio.sleep(0)
    second.set()
    await asyncio.sleep(0)
    first.set()
    await asyncio.gather(*tasks)
    assert order == ["a in", "b in", "b out", "a out", "alone", "c in", "c out"]
