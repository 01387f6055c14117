"""Fixtures of the harness tests: a scripted assistant, and ways to run the harness against it.

The folders have the names of the package's, but for `dataset`: sentence-transformers would take one
called `datasets` for the library of that name.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from benches import Bench, Finished
from compiling import Compile
from histories import three_questions, write_data
from scripted_assistant import ScriptedAssistant
from scripted_judge import ScriptedJudge, scripted_judge
from scripted_rival import Rival, rival

from harness.cli.main import main


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


@pytest.fixture(scope="session")
def _rival() -> Iterator[Rival]:
    with rival() as running:
        yield running


@pytest.fixture
def theirs(_rival: Rival) -> Rival:
    """Somebody else's assistant, fresh for every test."""
    _rival.reset()
    return _rival


@pytest.fixture(scope="session")
def _judge() -> Iterator[ScriptedJudge]:
    with scripted_judge() as running:
        yield running


@pytest.fixture
def model(_judge: ScriptedJudge) -> ScriptedJudge:
    """A judge model, fresh for every test."""
    _judge.reset()
    return _judge


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data.json", three_questions())


@pytest.fixture
def bench(assistant: ScriptedAssistant, data_file: Path, tmp_path: Path) -> Bench:
    return Bench(assistant, data_file, tmp_path / "run")


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


@pytest.fixture
def compiled(harness: Callable[..., Finished], tmp_path: Path) -> Compile:
    return Compile(harness, tmp_path)
