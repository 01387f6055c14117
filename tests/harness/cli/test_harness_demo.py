"""The demonstration: a server process of our own, and what happens when it does not come up."""

import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from benches import Finished
from histories import three_questions

from harness.records.manifest import FORMAT

Harness = Callable[..., Finished]
SERVER = Path(__file__).parents[1] / "serve_scripted.py"


def command(*arguments: str) -> str:
    return shlex.join([sys.executable, str(SERVER), *arguments])


def test_the_demonstration_runs_the_sample_and_stops_the_server(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.datasets.sample.build_sample", three_questions)
    out = tmp_path / "demo"
    ended = harness("demo", "--server", command(), "--out", out)
    assert ended.code == 0, ended.err
    report = json.loads((out / "report.json").read_text())
    assert report["dataset"] == "sample"
    assert report["missing"] == 0
    assert str(out / "report.html") in ended.out
    log = (out / "server.log").read_text()
    assert "data in" in log
    assert "stopped" in log


@pytest.mark.parametrize("interrupted_by", [signal.default_int_handler, signal.SIG_IGN])
def test_a_harness_that_is_told_to_end_stops_its_server(
    tmp_path: Path, interrupted_by: signal.Handlers
) -> None:
    """Also one that a shell began in the background, to which Ctrl-C is nothing."""
    out = tmp_path / "demo"
    before = signal.signal(signal.SIGINT, interrupted_by)
    try:
        process = subprocess.Popen(
            (sys.executable, "-m", "harness", "demo", "--server", command(), "--out", out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 60
    while not (out / "manifest.json").exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 130
    assert "stopped" in (out / "server.log").read_text()


def test_a_server_that_dies_shows_the_end_of_its_log(harness: Harness, tmp_path: Path) -> None:
    ended = harness("demo", "--server", command("--fail"), "--out", tmp_path / "demo")
    assert ended.code == 2
    assert "the server ended with exit code 3" in ended.err
    assert "no embedder here" in ended.err


def test_a_server_that_is_never_ready(harness: Harness, tmp_path: Path) -> None:
    sleeper = shlex.join([sys.executable, "-c", "import time; time.sleep(30)"])
    demo = ("demo", "--server", sleeper, "--out", tmp_path / "demo", "--ready-timeout", 1)
    ended = harness(*demo)
    assert (ended.code, "was not ready within 1 s" in ended.err) == (2, True)


def test_a_command_that_does_not_exist(harness: Harness, tmp_path: Path) -> None:
    ended = harness("demo", "--server", "/nowhere/assistant serve", "--out", tmp_path / "demo")
    assert (ended.code, "cannot be started" in ended.err) == (2, True)


def test_a_run_of_other_data_is_not_overwritten(harness: Harness, tmp_path: Path) -> None:
    out = tmp_path / "precious"
    out.mkdir()
    (out / "manifest.json").write_text(
        f'{{"format": {FORMAT}, "dataset": {{"name": "longmemeval"}}}}'
    )
    ended = harness("demo", "--server", command(), "--out", out)
    assert (ended.code, "holds another run" in ended.err) == (2, True)
    assert (out / "manifest.json").exists()
