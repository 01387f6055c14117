"""What a process uses, and running one measurement in a process of its own."""

import asyncio
import os
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run(measurement: Callable[..., Coroutine[Any, Any, _Result]], *arguments: Any) -> _Result:
    """Run a coroutine function to its end, in whatever process this is."""
    return asyncio.run(measurement(*arguments))


def anonymous_mb() -> float:
    """Memory of this process that no file backs; 0 where the system does not say."""
    status = Path("/proc/self/status")
    found = re.search(r"RssAnon:\s+(\d+)", status.read_text() if status.exists() else "")
    return int(found[1]) / 1024 if found else 0.0


def taken_by_host() -> tuple[float, float]:
    """Seconds that the machine's processors had work and a host gave them to other machines, and
    all their seconds, so far."""
    ticks = [
        int(number) for number in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    ]
    return ticks[-1] / os.sysconf("SC_CLK_TCK"), sum(ticks) / os.sysconf("SC_CLK_TCK")


def disk_mb(folder: Path) -> float:
    """Blocks taken on disk by the files of a folder."""
    return sum(f.stat().st_blocks * 512 for f in folder.rglob("*") if f.is_file()) / 1e6
