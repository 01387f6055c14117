"""The `assistant` command in this process: much faster than a process of its own."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from assistant.cli import main


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed with `--json`."""
        return json.loads(self.out)


def assert_refused(done: Finished, message: str) -> None:
    """The command could not do it, and said so in words."""
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err


Run = Callable[..., Finished]
"""Arguments and what is `typed` in; with `asked=True` somebody is there to answer questions."""


class _Typed(io.TextIOWrapper):
    """Standard input that holds what was typed."""

    def __init__(self, typed: str, *, asked: bool) -> None:
        super().__init__(io.BytesIO(typed.encode()), encoding="utf-8")
        self._asked = asked

    def isatty(self) -> bool:
        return self._asked


def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command with the settings and the folder of the test."""

    def run(*arguments: object, typed: str = "", asked: bool = False) -> Finished:
        monkeypatch.setattr(sys, "argv", ["assistant", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", _Typed(typed, asked=asked))
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        output = capsys.readouterr()
        return Finished(code, output.out, output.err)

    return run
