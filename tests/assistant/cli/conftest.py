"""Fixtures of the tests of the `assistant` command."""

import pytest
from in_process import Run, in_process


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The `assistant` command in this process."""
    return in_process(monkeypatch, capsys)
