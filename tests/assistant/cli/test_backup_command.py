"""`assistant backup` and `assistant restore` as an operator runs them."""

import asyncio
import gzip
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Server
from in_process import Run, assert_refused
from memories import copied, held, made_up, remember

from memory_store.engines import EdgeEngine, EdgeOperator


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    asyncio.run(remember(EdgeEngine(folder), made_up(30)))
    return folder


@pytest.fixture
def data(tmp_path: Path, written: Path) -> Path:
    return copied(written, tmp_path / "data")


@pytest.fixture(autouse=True)
def _hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")


@pytest.mark.parametrize("name", ["backup.jsonl", "backup.jsonl.gz"])
def test_there_and_back(run: Run, data: Path, tmp_path: Path, name: str) -> None:
    file, other = tmp_path / name, tmp_path / "other"
    done = run("backup", file, "--data-dir", data)
    assert done.code == 0, done.err
    assert "30 memories from" in done.out
    assert "backing up: 30 of 30 memories" in done.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("backup*")] == [name]
    text = gzip.decompress(file.read_bytes()) if name.endswith(".gz") else file.read_bytes()
    assert text.count(b"\n") == 32
    done = run("restore", file, "--data-dir", other, "--json")
    assert done.code == 0, done.err
    assert (done.json["command"], done.json["rounds"]) == ("restore", 30)
    before, after = (asyncio.run(held(EdgeOperator(place))) for place in (data, other))
    assert before == after


def test_a_torn_file_is_not_taken_for_whole(run: Run, data: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.jsonl.gz"
    assert run("backup", file, "--data-dir", data).code == 0
    file.write_bytes(file.read_bytes()[:-100])
    done = run("restore", file, "--data-dir", tmp_path / "other")
    assert (done.code, done.out) == (2, "")
    assert f"cannot read {file}" in done.err


@pytest.mark.parametrize(
    ("torn", "message"),
    [
        (lambda text: "", "the file is empty"),
        (lambda text: text[: len(text) // 2], "cannot be read"),
        (lambda text: text.rsplit("\n", 2)[0], "truncated after 30 records"),
        (lambda text: text.partition("\n")[2], "line 1 cannot be read"),
    ],
)
def test_what_is_no_backup_is_known_before_anything_is_written(
    run: Run, data: Path, tmp_path: Path, torn: Callable[[str], str], message: str
) -> None:
    file, other = tmp_path / "backup.jsonl", tmp_path / "other"
    assert run("backup", file, "--data-dir", data).code == 0
    file.write_text(torn(file.read_text()))
    done = run("restore", file, "--data-dir", other)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not other.exists()


def test_a_full_place_is_said_before_the_weights_are_looked_for(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "backup.jsonl"
    assert run("backup", file, "--data-dir", data).code == 0
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "no-such-model")
    done = run("restore", file, "--data-dir", data)
    assert (done.code, done.out) == (2, "")
    assert "holds another memory of 30 rounds" in done.err


def test_a_running_assistant_is_asked_for_the_backup(run: Run, data: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "backup.jsonl.gz", tmp_path / "other"
    before = asyncio.run(held(EdgeOperator(data)))
    server = Server(data)
    server.start()
    try:
        refused = run("backup", file, "--data-dir", data)
        assert (refused.code, refused.out) == (2, "")
        assert "back it up through the assistant that has it open, with --assistant" in refused.err
        done = run("backup", file, "--assistant", server.url, "--json")
    finally:
        server.end()
    assert done.code == 0, done.err
    backed_up = done.json
    assert (backed_up["rounds"], backed_up["source"]) == (30, server.url)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    done = run("restore", file, "--data-dir", other, "--json")
    assert done.code == 0, done.err
    assert done.json["checksum"] == backed_up["checksum"]
    assert asyncio.run(held(EdgeOperator(other))) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("backup", "b.jsonl"), "there is no memory in"),
        (("backup", "b.jsonl", "--assistant", "http://127.0.0.1:9"), "no assistant at"),
        (("restore", "nowhere.jsonl"), "cannot read nowhere.jsonl"),
        (("backup", "no/such/folder/b.jsonl"), "cannot write"),
    ],
)
def test_what_cannot_be_done_is_said(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert_refused(run(*arguments, "--data-dir", tmp_path / "data"), message)
    assert not list(Path.cwd().glob("b.jsonl*"))
