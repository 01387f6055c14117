"""Fixtures of the harness tests: a scripted assistant, and ways to run the harness against it."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from histories import three_questions, write_data
from rich.console import Console
from scripted_assistant import ScriptedAssistant

from harness.cli import main
from harness.client import Endpoint
from harness.judges.lexical import LexicalJudge
from harness.pipeline import Run, Source
from harness.replay_stage import ReplayOptions
from harness.retry import RetryPolicy
from harness.selection import Filters

QUICK = RetryPolicy(attempts=3, reconnect_seconds=5.0, first_wait=0.01, longest_wait=0.05)


@pytest.fixture(scope="session")
def scripted() -> Iterator[ScriptedAssistant]:
    server = ScriptedAssistant()
    yield server
    server.stop()


@pytest.fixture
def assistant(scripted: ScriptedAssistant) -> ScriptedAssistant:
    """Fresh for every test; the socket behind it stays, because stopping takes a while."""
    scripted.settle()
    scripted.reset()
    if not scripted.running:
        scripted.start()
    return scripted


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data.json", three_questions())


@dataclass
class Bench:
    """Runs the stages in this process with quick retries, all in one directory."""

    assistant: ScriptedAssistant
    data_file: Path
    out: Path
    timeout: float = 5.0
    retry: RetryPolicy = QUICK

    def open(self, **filters: Any) -> Run:
        source = Source("longmemeval", self.data_file, Filters(**filters))
        return Run(source, self.out, Console(stderr=True))

    def replay(self, *, barrier_seconds: float = 0.2, **options: Any) -> int:
        endpoint = Endpoint(self.assistant.url, timeout=self.timeout, retry=self.retry)
        replaying = ReplayOptions(barrier_seconds=barrier_seconds, **options)
        return self.open().replay(endpoint, "native", replaying)

    def report(self) -> dict[str, Any]:
        run = self.open()
        run.judge(LexicalJudge())
        return run.report()


@pytest.fixture
def bench(assistant: ScriptedAssistant, data_file: Path, tmp_path: Path) -> Bench:
    return Bench(assistant, data_file, tmp_path / "run")


@dataclass
class Finished:
    code: int
    out: str
    err: str


@pytest.fixture
def harness(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Finished]:
    """The command line in this process: arguments in, exit code and output out."""

    def run(*arguments: object) -> Finished:
        monkeypatch.setattr(sys, "argv", ["harness", *(str(item) for item in arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return Finished(int(ended.value.code or 0), output.out, output.err)

    return run
