"""The harness where only the assistant was installed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
EXTRA = [re.split(r"[>=<]", one)[0] for one in PROJECT["optional-dependencies"]["harness"]]


@pytest.mark.parametrize("package", EXTRA)
def test_it_says_before_a_run_which_extra_it_needs(package: str) -> None:
    without = f"import sys; sys.modules[{package!r}] = None; sys.argv = ['harness', 'demo']"
    program = f"{without}; from harness.cli.main import main; main()"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr == (
        f"harness: {package} not installed: pip install 'aide-memoire[harness]'\n"
    )
