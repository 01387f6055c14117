"""The memory and disk that processes use, measurements in separate processes, and separate
environments for other people's packages, which are made when they are first needed."""

import asyncio
import hashlib
import multiprocessing
import os
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aide-memoire"


def environment(wanted: Path, under: Path = CACHE, python: str = sys.executable) -> Path:
    """The path of the Python of an environment with these requirements. The environment is made if
    it is not there, with the given Python.
    """
    folder = folder_of(wanted, under)
    made = folder / "bin" / "python"
    if not (folder / "complete").exists():
        # Made without pip, which the Python of some systems cannot install into an environment.
        subprocess.run([python, "-m", "venv", "--clear", "--without-pip", folder], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(made), "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "-q", "-r", str(wanted)], check=True)
        (folder / "complete").touch()
    return made


def folder_of(wanted: Path, under: Path = CACHE) -> Path:
    """The folder of an environment with these requirements, whether it was made yet or not."""
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()[:12]
    return under / f"{wanted.parent.name}-{wanted.stem}-{digest}"


_Result = TypeVar("_Result")


def in_own_process(
    measurement: Callable[..., Coroutine[Any, Any, _Result]], *arguments: Any
) -> _Result:
    """Run a coroutine function to its end in a new process, whose memory nothing else has used."""
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawned) as process:
        return process.submit(_run, measurement, *arguments).result()


def _run(measurement: Callable[..., Coroutine[Any, Any, _Result]], *arguments: Any) -> _Result:
    return asyncio.run(measurement(*arguments))


def anonymous_mb(process_id: int | None = None) -> float:
    """Memory of a process, of this one if none is named, that no file backs; 0 where the system
    does not say."""
    status = Path(f"/proc/{process_id or 'self'}/status")
    found = re.search(r"RssAnon:\s+(\d+)", status.read_text() if status.exists() else "")
    return int(found[1]) / 1024 if found else 0.0


def taken_by_host() -> tuple[float, float]:
    """Seconds so far in which the host took processors of this machine away although they had work,
    and the total seconds of its processors."""
    ticks = [
        int(number) for number in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    ]
    return ticks[-1] / os.sysconf("SC_CLK_TCK"), sum(ticks) / os.sysconf("SC_CLK_TCK")


def disk_mb(folder: Path) -> float:
    """The disk space in MB that the files of a folder take, by their blocks."""
    return sum(f.stat().st_blocks * 512 for f in folder.rglob("*") if f.is_file()) / 1e6
