"""The lifecycle cases put to our own assistant, as a user starts it, without a language model."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from commands import BIN

# What it gets right today, by `benchmarks/LOG.md`; fewer is a regression.
GATES = ("all=0.82", "told by the assistant=1", "when it was=1", "forgotten=0.92")


@pytest.mark.slow
@pytest.mark.weights
def test_ours_is_put_every_case_and_is_right_in_most(tmp_path: Path) -> None:
    gates = [part for gate in GATES for part in ("--fail-under", gate)]
    ended = subprocess.run(
        [BIN / "harness", "lifecycle", "--server", shlex.join([str(BIN / "assistant"), "serve"]),
         "--out", tmp_path / "run", *gates],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert (report["right"]["n"], report["missing"], report["not_put"]) == (156, 0, {})
