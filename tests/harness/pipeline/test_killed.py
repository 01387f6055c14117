"""The harness killed in the middle of a run, again and again: in the end the same files."""

import json
import random
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import finished
from histories import chat, history, instance, write_data
from nursery import NURSERY
from scripted_assistant import ScriptedAssistant
from scripted_rival import PROFILE, Rival

FILES = ("questions", "ingest", "retrieval", "hypotheses", "verdicts", "controls", "failures")
# Times, and names that are made of each run's own secret.
_OWN = {"answer_ms", "search_ms", "round_ms", "seconds", "barrier_seconds", "user_id", "at"}


def data(path: Path) -> Path:
    """Six questions whose histories have four sessions each."""
    sessions = [
        (f"s{n}", f"2023/05/{n + 1:02} (Mon) 09:00", chat(f"I saw {n} swans.", "How many herons?"))
        for n in range(3)
    ]
    kayak = ("answer_k", "2023/05/20 (Sat) 02:21", chat("My kayak is turquoise.", has_answer=True))
    return write_data(
        path,
        [
            instance(f"q{n}", question=f"What colour is my kayak, for the {n}th time?")
            | history(*sessions, kayak, evidence=["answer_k"])
            for n in range(6)
        ],
    )


def command(file: Path, out: Path, url: str, mode: str, profile: str) -> list[str]:
    return [
        *("harness", "run", "--dataset", "longmemeval", "--file", str(file)),
        *("--assistant", url, "--out", str(out), "--mode", mode, "--profile", profile),
        *("--seed", "1", "--concurrency", "2"),
    ]


def killed_at(arguments: list[str], arrived: Callable[[], int], request: int) -> int:
    """Run until so many requests have arrived, then kill; its exit code."""
    before = arrived()
    process = NURSERY.start(arguments, stderr=subprocess.DEVNULL)

    def watch() -> None:
        while process.poll() is None and arrived() - before < request:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)

    watching = threading.Thread(target=watch)
    watching.start()
    code = process.wait()
    watching.join()
    return code


def finish(arguments: list[str]) -> None:
    ended = finished(arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def lines_of(out: Path) -> dict[str, list[str]]:
    """Every line of a run, without times and own names, sorted: users run side by side."""
    found = {}
    for name in FILES:
        path = out / f"{name}.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        kept = [{k: v for k, v in json.loads(line).items() if k not in _OWN} for line in lines]
        found[name] = sorted(json.dumps(line, sort_keys=True) for line in kept)
    return found


def figures_of(out: Path) -> dict[str, Any]:
    report = json.loads((out / "report.json").read_text())
    timed = ("latency", "ingest", "wall_seconds", "conduct", "assistant")
    return {name: value for name, value in report.items() if name not in timed}


class Lab:
    """One assistant, one way of replaying, one uninterrupted run to compare with."""

    def __init__(self, url: str, arrived: Callable[[], int], mode: str, folder: Path) -> None:
        self._url, self._arrived, self._mode, self._folder = url, arrived, mode, folder
        self._file = data(folder / "data.json")
        self._profile = "aide-memoire"
        if mode != "native":
            self._profile = str(folder / "theirs.toml")
            Path(self._profile).write_text(PROFILE)
        before = arrived()
        finish(self.arguments("whole"))
        self.requests = arrived() - before

    def arguments(self, out: str) -> list[str]:
        return command(self._file, self._folder / out, self._url, self._mode, self._profile)

    def kill(self, out: str, request: int) -> bool:
        """Whether the run was still going on when so many requests had arrived."""
        return killed_at(self.arguments(out), self._arrived, request) == -signal.SIGKILL

    def check(self, out: str) -> None:
        """The run, finished, is the uninterrupted one."""
        finish(self.arguments(out))
        ours, whole = self._folder / out, self._folder / "whole"
        assert lines_of(ours) == lines_of(whole)
        assert figures_of(ours) == figures_of(whole)
        names = [{re.sub(r"^\.lock$", "", p.name) for p in run.iterdir()} for run in (ours, whole)]
        assert names[0] == names[1]


@pytest.fixture
def lab(
    request: pytest.FixtureRequest, assistant: ScriptedAssistant, theirs: Rival, tmp_path: Path
) -> Lab:
    if getattr(request, "param", "native") == "native":
        return Lab(assistant.url, lambda: len(assistant.wire), "native", tmp_path)
    return Lab(theirs.url, lambda: len(theirs.arrived), "teacher", tmp_path)


def test_a_run_killed_three_times_ends_with_the_same_files(lab: Lab) -> None:
    draw = random.Random(7)
    killed = [lab.kill("run", draw.randrange(2, lab.requests // 2)) for _ in range(3)]
    assert killed[0]
    lab.check("run")


@pytest.mark.slow
@pytest.mark.parametrize("lab", ["native", "teacher"], indirect=True)
def test_a_run_killed_at_any_of_twenty_moments_ends_with_the_same_files(lab: Lab) -> None:
    draw = random.Random(11)
    moments = [draw.randrange(1, lab.requests + 1) for _ in range(20)]
    killed = [lab.kill(f"run{n}", moment) for n, moment in enumerate(moments)]
    assert sum(killed) >= 15
    for n in range(20):
        lab.check(f"run{n}")
