"""`assistant migrate` and `assistant reindex` as an operator runs them, killed ones too."""

import asyncio
import io
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from in_process import Run, assert_refused
from memories import copied, held, in_use, made_up, remember
from nursery import NURSERY
from qdrant_binary import Qdrant
from rich.console import Console

from assistant.cli.console import shown_progress
from memory_store.engines import EdgeEngine, EdgeOperator, ServerOperator

server = pytest.mark.qdrant_server
MUCH = 400
"""So many rounds are not done yet when a process is killed after the first of them."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return memory_of(tmp_path_factory.mktemp("written"), 30)


@pytest.fixture(scope="module")
def much(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return memory_of(tmp_path_factory.mktemp("much"), MUCH)


def memory_of(folder: Path, rounds: int) -> Path:
    asyncio.run(remember(EdgeEngine(folder), made_up(rounds)))
    return folder


@pytest.fixture
def data(tmp_path: Path, written: Path) -> Path:
    return copied(written, tmp_path / "data")


@pytest.fixture
def long_data(tmp_path: Path, much: Path) -> Path:
    return copied(much, tmp_path / "data")


@pytest.fixture(autouse=True)
def _hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")


@pytest.fixture
def killed() -> Callable[..., None]:
    """The `assistant` command, ended without warning once a part of the rounds is done."""

    def run(*arguments: object) -> None:
        read, write = os.pipe()
        with os.fdopen(read) as errors:
            with os.fdopen(write, "w") as writing:
                process = NURSERY.start(("assistant", *arguments), stderr=writing)
            for line in errors:
                if re.fullmatch(rf"\w+: [1-9]\d* of {MUCH} memories\n", line):
                    process.send_signal(signal.SIGKILL)
                    break
        assert process.wait() == -signal.SIGKILL

    return run


def lines(place: EdgeOperator | ServerOperator) -> list[str]:
    return asyncio.run(held(place))


@pytest.fixture
def on_server(qdrant: Qdrant, collection: str, monkeypatch: pytest.MonkeyPatch) -> ServerOperator:
    """The empty place on the server that the command's settings name."""
    monkeypatch.setenv("ASSISTANT_QDRANT__GRPC_PORT", str(qdrant.grpc_port))
    monkeypatch.setenv("ASSISTANT_QDRANT__COLLECTION", collection)
    return ServerOperator(qdrant.url, grpc_port=qdrant.grpc_port, collection=collection)


@server
def test_there_and_back_by_command(
    run: Run, data: Path, tmp_path: Path, qdrant: Qdrant, on_server: ServerOperator
) -> None:
    before = lines(EdgeOperator(data))
    done = run("migrate", "--to", "server", "--data-dir", data, "--qdrant-url", qdrant.url)
    assert done.code == 0, done.err
    assert "30 copied, 0 already there, 0 removed" in done.out
    assert "both hold 30 memories, sha256" in done.out
    assert "qdrant_url set" in done.out
    assert "copying: 0 of 30 memories\n" in done.err
    assert done.err.endswith("checking: 30 of 30 memories\n")
    assert lines(on_server) == before

    back = tmp_path / "back"
    done = run("migrate", "--to", "edge", "--data-dir", back, "--qdrant-url", qdrant.url, "--json")
    assert (done.code, done.json["command"], done.json["written"]) == (0, "migrate", 30)
    assert done.json["seconds"] > 0
    assert lines(EdgeOperator(back)) == before


@server
def test_a_killed_move_run_again_is_complete(
    run: Run,
    killed: Callable[..., None],
    long_data: Path,
    qdrant: Qdrant,
    on_server: ServerOperator,
) -> None:
    command = ("migrate", "--to", "server", "--data-dir", long_data, "--qdrant-url", qdrant.url)
    killed(*command)
    done = run(*command, "--json")
    assert done.code == 0, done.err
    assert done.json["already_there"] >= 128
    assert done.json["already_there"] + done.json["written"] == MUCH
    assert lines(on_server) == lines(EdgeOperator(long_data))


def test_a_killed_reindex_run_again_is_complete(
    run: Run, killed: Callable[..., None], long_data: Path
) -> None:
    before = lines(EdgeOperator(long_data))
    killed("reindex", "--again", "--data-dir", long_data)
    assert lines(EdgeOperator(long_data)) == before
    done = run("reindex", "--again", "--data-dir", long_data, "--json")
    assert done.code == 0, done.err
    assert done.json["already_there"] >= 128
    assert done.json["already_there"] + done.json["written"] == MUCH
    assert lines(EdgeOperator(long_data)) == before
    assert [path.name for path in long_data.glob("edge*")] == ["edge"]


def test_reindex_says_what_it_did(run: Run, data: Path) -> None:
    done = run("reindex", "--data-dir", data)
    assert done.code == 0
    assert done.out.startswith("nothing to do: ")
    assert "embedder hash, dimension 256" in done.out
    done = run("reindex", "--data-dir", data, "--again", "--keep-old")
    assert "indexed anew: 30 encoded, 0 done before" in done.out
    assert sorted(path.name for path in data.glob("edge*")) == ["edge", "edge.old"]
    done = run("reindex", "--data-dir", data, "--cancel")
    assert (done.code, done.out) == (0, "nothing to cancel\n")
    done = run("reindex", "--data-dir", data, "--cancel", "--json")
    assert done.json == {"command": "reindex", "cancelled": False}


def test_a_memory_in_use_is_left_alone(run: Run, data: Path) -> None:
    with in_use(data):
        for command in (
            ("reindex",),
            ("migrate", "--to", "server", "--qdrant-url", "http://[::1]:9"),
        ):
            done = run(*command, "--data-dir", data)
            assert (done.code, done.out) == (2, "")
            assert "in use by another process: stop that one" in done.err
            assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("migrate", "--to", "server"), "set qdrant_url"),
        (("migrate", "--to", "edge"), "set qdrant_url"),
        (("migrate", "--to", "moon"), "--to must be 'edge' or 'server'"),
        (("migrate",), "--to"),
        (("reindex",), "there is no memory in"),
        (("reindex", "--cancel"), "there is no memory in"),
        (("reindex", "--config", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_made(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert_refused(run(*arguments, "--data-dir", tmp_path / "data"), message)
    assert not list(tmp_path.glob("data/edge*"))


def test_a_missing_memory_is_said_before_the_weights_are_looked_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "no-such-model")
    done = run("reindex", "--data-dir", tmp_path / "data")
    assert (done.code, done.out) == (2, "")
    assert "there is no memory in" in done.err
    assert not (tmp_path / "data").exists()


def test_a_terminal_gets_a_bar(tmp_path: Path) -> None:
    shown = io.StringIO()
    with shown_progress(Console(file=shown, force_terminal=True, width=100)) as progress:
        progress.begin("copying", 40)
        progress.advance(40)
    assert "copying" in shown.getvalue()
    assert "40/40" in shown.getvalue()
    assert "\x1b[" in shown.getvalue()


def test_a_pipe_gets_few_lines() -> None:
    shown = io.StringIO()
    with shown_progress(Console(file=shown)) as progress:
        progress.begin("copying", 1000)
        for _ in range(1000):
            progress.advance(1)
        progress.begin("checking", 0)
        progress.advance(0)
    lines = shown.getvalue().splitlines()
    assert lines[:2] == ["copying: 0 of 1000 memories", "copying: 100 of 1000 memories"]
    assert lines[-2:] == ["copying: 1000 of 1000 memories", "checking: 0 of 0 memories"]
    assert len(lines) == 12
