"""Rounds that are missing or altered are told, and never passed over."""

import asyncio
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import qdrant_edge as qe
from damaged import a_store, all_rounds, crashed, files_with, flip, harm, held, told, written
from memories import copied

from memory_store import (
    Correction,
    Query,
    round_id,
)
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import EdgeOperator
from memory_store.engines._edge.integrity import MARKS
from memory_store.engines._edge.ledger import EntryKind, LedgerEntry
from memory_store.engines._edge.opening import open_shard
from memory_store.engines._edge.sync import Commits, Durability
from memory_store.errors import StoreDamaged, StoreUnavailable
from memory_store.transfer import repair, to_lines

ROUNDS = told(40)
SECOND = ROUNDS[2]


def log_of(folder: Path) -> Path:
    (log,) = (file for file in (folder / "edge" / "wal").glob("open-*") if _is_used(file))
    return log


def _is_used(file: Path) -> bool:
    return b"pears" in file.read_bytes()


@pytest.fixture(scope="module")
def _after_a_crash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    async def told_one_by_one(folder: Path) -> Path:
        store = a_store(folder / "live")
        await store.open()
        for round in ROUNDS:
            await store.remember([round])
        copy = crashed(folder / "live", folder / "crashed")
        await store.close()
        return copy

    return asyncio.run(told_one_by_one(tmp_path_factory.mktemp("damage")))


@pytest.fixture
def after_a_crash(tmp_path: Path, _after_a_crash: Path) -> Path:
    """A memory that was not closed: its rounds are in the log."""
    return copied(_after_a_crash, tmp_path / "crashed")


@pytest.fixture(scope="module")
def _closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("damage") / "closed", ROUNDS)


@pytest.fixture
def closed(tmp_path: Path, _closed: Path) -> Path:
    return copied(_closed, tmp_path / "closed")


async def test_after_a_crash_all_is_there(after_a_crash: Path) -> None:
    assert await held(after_a_crash) == ROUNDS
    assert await held(after_a_crash) == ROUNDS


async def test_a_flipped_bit_in_the_log_is_told(after_a_crash: Path) -> None:
    flip(log_of(after_a_crash), b"I counted 21 pears")
    with pytest.raises(StoreDamaged, match=r"of 40 memories .*missing.*assistant repair"):
        await held(after_a_crash)


async def test_a_closed_memory_names_the_file_that_changed(closed: Path) -> None:
    (pages,) = closed.rglob("payload_storage/page_0.dat")
    content = bytearray(pages.read_bytes())
    content[100] ^= 4
    pages.write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"payload_storage/page_0\.dat"):
        await held(closed)


async def test_a_missing_ledger_is_told(after_a_crash: Path) -> None:
    (after_a_crash / "edge" / "ledger").unlink()
    with pytest.raises(StoreDamaged, match="ledger"):
        await held(after_a_crash)


def alter_in_place(folder: Path, text: bytes) -> None:
    """Change a text in the pages of a memory, under whoever has them open."""
    (pages,) = folder.rglob("payload_storage/page_0.dat")
    with pages.open("r+b") as opened:
        opened.seek(opened.read().index(text))
        opened.write(bytes([text[0] ^ 1]))


async def test_a_round_found_altered_is_told_and_the_memory_is_not_ready(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    await store.open()
    await store.remember(ROUNDS)
    await store.close()
    store = a_store(tmp_path)
    await store.open()
    await store.check()
    alter_in_place(tmp_path, b"I counted 21 pears")
    with pytest.raises(StoreDamaged, match="not as it was written"):
        await store.recall(Query("user 1", "21 pears"))
    with pytest.raises(StoreDamaged):
        await store.check()
    await store.remember(told(41)[40:])  # what is not damaged goes on
    await store.close()
    assert not (tmp_path / "edge" / "seal").exists()  # the next opening reads everything
    with pytest.raises(StoreDamaged, match="1 not as written"):
        await held(tmp_path)


async def test_a_deleted_folder_takes_no_more_writes(tmp_path: Path) -> None:
    store = a_store(tmp_path)
    await store.open()
    await store.remember(ROUNDS[:1])
    shutil.rmtree(tmp_path / "edge")
    with pytest.raises(StoreUnavailable, match="deleted or moved"):
        await store.remember(ROUNDS[1:])
    with pytest.raises(StoreUnavailable, match="deleted or moved"):
        await store.check()


async def test_what_was_forgotten_or_put_right_counts_as_such(tmp_path: Path) -> None:
    store = a_store(tmp_path / "live")
    await store.open()
    await store.remember(ROUNDS)
    await store.forget_session("user 0", "session 0")
    await store.correct("user 1", ROUNDS[9].id, Correction(ROUNDS[9].session_date, "I was wrong."))
    await store.let_supersede("user 1", ROUNDS[11].id, False)
    now = await all_rounds(store)
    copy = crashed(tmp_path / "live", tmp_path / "crashed")
    await store.forget_user("user 1")
    other = crashed(tmp_path / "live", tmp_path / "other")
    await store.close()
    assert await held(copy) == now
    assert {round.user_id for round in await held(other)} == {"user 0"}


class Ended(BaseException):
    """The process ended here."""


@pytest.mark.parametrize("deleted", [False, True])
async def test_ended_while_forgetting_it_is_forgotten_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deleted: bool
) -> None:
    store = a_store(tmp_path / "live")
    await store.open()
    await store.remember(ROUNDS)

    add = Commits.add

    async def intend(self: Commits, entries: Sequence[LedgerEntry]) -> None:
        self._ledger.append(entries)
        raise Ended

    def add_unless_gone(self: Commits, entries: Sequence[LedgerEntry]) -> None:
        if entries[0].kind is EntryKind.GONE:
            raise Ended
        add(self, entries)

    with monkeypatch.context() as patch:
        if deleted:
            patch.setattr(Commits, "add", add_unless_gone)
        else:
            patch.setattr(Commits, "intend", intend)
        with pytest.raises(Ended):
            await store.forget_session("user 0", "session 0")
    copy = crashed(tmp_path / "live", tmp_path / "crashed")
    gone = {round_id("user 0", "session 0", index) for index in range(3)} if deleted else set()
    assert await held(copy) == [round for round in ROUNDS if round.id not in gone]
    assert await held(copy) == [round for round in ROUNDS if round.id not in gone]


async def test_a_memory_from_before_there_were_ledgers_is_taken_up(
    after_a_crash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = await _without_ledger(after_a_crash)

    def ends(*_: object) -> None:
        raise Ended

    with monkeypatch.context() as patch:
        patch.setattr("memory_store.engines._edge.opening.mark", ends)
        with pytest.raises(Ended):
            await held(folder)
    assert await held(folder) == ROUNDS
    flip(folder / "edge" / "ledger", b"aide-memoire")
    with pytest.raises(StoreDamaged, match="ledger"):
        await held(folder)


async def _without_ledger(folder: Path) -> Path:
    """The memory as earlier versions left one: no marks, no ledger, no seal."""
    shard = open_shard(folder / "edge", Durability.SYNC)
    shard.raw.update(qe.UpdateOperation.delete_payload_by_filter(qe.Filter(), [MARKS]))
    shard.raw.flush()
    shard.release()
    (folder / "edge" / "ledger").unlink()
    return folder


async def test_everything_is_read_when_it_is_asked_for(closed: Path) -> None:
    store = a_store(closed)
    await store.open()
    assert await store.verify() == len(ROUNDS)
    await store.close()


async def test_repair_keeps_what_is_whole_and_says_what_is_not(after_a_crash: Path) -> None:
    flip(log_of(after_a_crash), b"I counted 21 pears")
    done = await repair(EdgeOperator(after_a_crash), _embedder)
    found = done.found
    assert found.kept == len(await held(after_a_crash)) == len(ROUNDS) - len(found.lost)
    assert ROUNDS[21].id in found.lost
    again = await repair(EdgeOperator(after_a_crash), _embedder)
    assert (again.found.kept, again.found.lost) == (found.kept, frozenset())


async def test_repair_takes_lost_rounds_from_a_backup(after_a_crash: Path, tmp_path: Path) -> None:
    whole = crashed(after_a_crash, tmp_path / "whole")
    store = a_store(whole)
    await store.open()
    records = [r for user in await store.users() for r in await store.records(user)]
    await store.close()
    flip(log_of(after_a_crash), b"I counted 21 pears")
    done = await repair(EdgeOperator(after_a_crash), _embedder, to_lines(records))
    assert done.brought_back == len(done.found.lost) > 0
    assert await held(after_a_crash) == ROUNDS


async def test_repair_brings_nothing_back_that_was_forgotten(tmp_path: Path) -> None:
    store = a_store(tmp_path / "live")
    await store.open()
    await store.remember(ROUNDS)
    records = [r for user in await store.users() for r in await store.records(user)]
    await store.forget_round("user 0", SECOND.id)
    copy = crashed(tmp_path / "live", tmp_path / "crashed")
    await store.close()
    # The log loses its end, in which the round was forgotten.
    log = log_of(copy)
    content = log.read_bytes()
    end = content.rindex(b"delete_points")
    log.write_bytes(content[:end] + b"?" + content[end + 1 :])
    with pytest.raises(StoreDamaged, match="there again though they were forgotten"):
        await held(copy)
    done = await repair(EdgeOperator(copy), _embedder, to_lines(records))
    assert done.found.returned == (SECOND.id,)
    assert await held(copy) == [round for round in ROUNDS if round != SECOND]


@pytest.mark.slow
@pytest.mark.parametrize("was_closed", [True, False])
async def test_no_damage_passes_unnoticed(tmp_path: Path, was_closed: bool) -> None:
    """A hundred flipped bits and cut files: the memory is whole, or says that it is not."""
    store = a_store(tmp_path / "live")
    await store.open()
    for number, round in enumerate(told(120)):
        await store.remember([round])
        if number % 50 == 0:
            # What is in the log goes to the pages; to close and open would add segments.
            store._engine._shard.flush()  # type: ignore[attr-defined]
    await store.forget_round("user 0", round_id("user 0", "session 1", 1))
    before = await all_rounds(store)
    if was_closed:
        await store.close()
    for number in range(100):
        copy = crashed(tmp_path / "live", tmp_path / f"copy {number}")
        what = harm(copy, random.Random(number))
        try:
            after = await held(copy)
        except StoreUnavailable:
            continue
        finally:
            shutil.rmtree(copy)
        assert after == before, what
    if not was_closed:
        await store.close()


def _embedder() -> Embedder:
    return Embedder(HashEncoder())


def test_the_texts_of_the_log_can_be_found(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("some pears")
    assert files_with(tmp_path, "pears") == [tmp_path / "a"]
