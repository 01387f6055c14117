"""`assistant check`, `repair` and `scrub` as an operator runs them."""

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from calls import record
from commands import Server
from damaged import a_store, crashed, files_with, flip, held, told
from in_process import Run

ROUNDS = told(30)
SECRET = "Zanzibarbarian"


@pytest.fixture(autouse=True)
def _hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")


async def _crashed(tmp_path: Path) -> None:
    store = a_store(tmp_path / "live")
    await store.open()
    for round in ROUNDS:
        await store.remember([round])
    crashed(tmp_path / "live", tmp_path / "data")
    await store.close()


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A memory that was not closed, with a flipped bit in its log."""
    asyncio.run(_crashed(tmp_path))
    for log in (tmp_path / "data" / "edge" / "wal").glob("open-*"):
        if b"I counted 20 pears" in log.read_bytes():
            flip(log, b"I counted 20 pears")
    return tmp_path / "data"


def test_check_reads_every_round_and_says_what_is_promised(run: Run, tmp_path: Path) -> None:
    asyncio.run(_crashed(tmp_path))
    done = run("check", "--data-dir", tmp_path / "data")
    assert done.code == 0, done.out
    assert "all 30 memories read; a round is acknowledged when it is on the disk" in done.out


def test_of_a_damaged_memory_every_command_says_what_to_do(
    run: Run, damaged: Path, tmp_path: Path
) -> None:
    checked = run("check", "--data-dir", damaged)
    assert checked.code == 1
    assert "memory: PROBLEM: the memory in" in checked.out
    assert "assistant repair" in checked.out
    backed_up = run("backup", tmp_path / "b.jsonl", "--data-dir", damaged)
    assert (backed_up.code, (tmp_path / "b.jsonl").exists()) == (2, False)
    assert "is damaged (of 30 memories" in backed_up.err
    assert run("reindex", "--again", "--data-dir", damaged).code == 2


def test_repair_says_what_is_lost_and_a_backup_brings_it_back(
    run: Run, damaged: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.jsonl.gz"
    assert run("backup", backup, "--data-dir", tmp_path / "live").code == 0
    without = crashed(damaged, tmp_path / "without")
    done = run("repair", "--data-dir", without)
    assert done.code == 1
    assert "memories are lost; --json names them" in done.out
    done = run("repair", "--data-dir", damaged, "--from", backup, "--json")
    assert done.code == 0, done.err
    assert done.json["brought_back"] == len(done.json["missing"]) + len(done.json["altered"]) > 0
    assert done.json["lost"] == 0
    assert asyncio.run(held(damaged)) == ROUNDS
    assert run("check", "--data-dir", damaged).code == 0


def test_repair_refuses_what_it_cannot_mend(run: Run, damaged: Path, tmp_path: Path) -> None:
    assert "there is no memory in" in run("repair", "--data-dir", tmp_path / "none").err
    torn = tmp_path / "torn.jsonl"
    torn.write_text('{"format":"aide-memoire/records","version":3}\n{"a":1}\n')
    before = sorted(damaged.rglob("*"))
    done = run("repair", "--data-dir", damaged, "--from", torn)
    assert (done.code, "line 2 cannot be read" in done.err) == (2, True)
    assert sorted(damaged.rglob("*")) == before


def test_a_scrub_of_a_stopped_memory(run: Run, tmp_path: Path) -> None:
    asyncio.run(_told_and_forgotten(tmp_path / "data"))
    assert files_with(tmp_path / "data", SECRET)
    done = run("scrub", "--data-dir", tmp_path / "data")
    assert (done.code, "was removed from the disk" in done.out) == (0, True)
    assert files_with(tmp_path / "data", SECRET) == []
    assert run("scrub", "--data-dir", tmp_path / "none").code == 2


async def _told_and_forgotten(folder: Path) -> None:
    store = a_store(folder)
    await store.open()
    await store.remember(told(10))
    secret = replace(ROUNDS[0], user_id="eve", user_text=f"I am the {SECRET}.")
    await store.remember([secret])
    await store.forget_user("eve")
    await store.close()


def test_forgetting_with_a_scrub_while_it_runs(run: Run, tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    server.start()
    try:
        with httpx.Client(base_url=server.url) as http:
            record(http, "ann", "s", f"I am the {SECRET}.", "Noted.")
            record(http, "ann", "t", "I live in Ghent.", "Noted.")
        named = ("--assistant", server.url, "--user", "ann")
        done = run("memories", "forget", "--session", "s", "--yes", "--scrub", *named)
        assert done.code == 0, done.err
        assert "forgotten text was removed from the disk" in done.out
        assert files_with(tmp_path / "data", SECRET) == []
        done = run("scrub", "--assistant", server.url, "--json")
        assert done.json["scrubbed"] is True
        found = run("memories", "search", "Where do I live?", "--json", *named)
        assert found.json["data"][0]["user_text"] == "I live in Ghent."
    finally:
        server.end()
