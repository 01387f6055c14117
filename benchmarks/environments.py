"""Environments of their own for other people's packages, made when they are first needed."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aide-memoire"


def environment(wanted: Path, under: Path = CACHE, python: str = sys.executable) -> Path:
    """The Python of an environment with these requirements, which is made if it is not there, for
    the Python of this process or another.
    """
    folder = folder_of(wanted, under)
    made = folder / "bin" / "python"
    if not (folder / "complete").exists():
        # Without a pip of its own, which the Python of some systems cannot give it.
        subprocess.run([python, "-m", "venv", "--clear", "--without-pip", folder], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(made), "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "-q", "-r", str(wanted)], check=True)
        (folder / "complete").touch()
    return made


def folder_of(wanted: Path, under: Path = CACHE) -> Path:
    """Where an environment with these requirements is, made or not."""
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()[:12]
    return under / f"{wanted.parent.name}-{wanted.stem}-{digest}"
