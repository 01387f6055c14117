"""Environments for other people's packages: made once, another for other requirements."""

import subprocess
from pathlib import Path

from benchmarks.processes import environment, folder_of


def test_an_environment_is_made_once_and_holds_nothing_of_ours(tmp_path: Path) -> None:
    wanted = tmp_path / "nothing.txt"
    wanted.write_text("# no package\n")
    python = environment(wanted, tmp_path)
    made = (folder_of(wanted, tmp_path) / "complete").stat().st_mtime_ns
    assert environment(wanted, tmp_path) == python
    assert (folder_of(wanted, tmp_path) / "complete").stat().st_mtime_ns == made
    ended = subprocess.run([python, "-c", "import numpy"], capture_output=True, text=True)
    assert "No module named 'numpy'" in ended.stderr


def test_other_requirements_are_another_environment(tmp_path: Path) -> None:
    wanted = tmp_path / "some.txt"
    wanted.write_text("one==1\n")
    before = folder_of(wanted, tmp_path)
    wanted.write_text("one==2\n")
    assert folder_of(wanted, tmp_path) != before
