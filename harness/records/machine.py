"""The machine that a run was made on, for its manifest: what times depend on, and the packages that
were installed beside the harness. It names neither the machine nor anybody.
"""

import os
import platform
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TypedDict

_CPU_INFO = Path("/proc/cpuinfo")


class MachineRecord(TypedDict):
    """`packages` are versions by name; None is not known."""

    system: str
    processor: str
    cores: int | None
    memory_gib: float | None
    python: str
    packages: dict[str, str]


@cache
def machine() -> MachineRecord:
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": dict(sorted({one.name: one.version for one in _installed()}.items())),
    }


def _installed() -> Iterator[metadata.Distribution]:
    """The installed packages, without damaged ones, which have no name."""
    return (one for one in metadata.distributions() if one.metadata["Name"])


def _processor() -> str:
    """The processor's trade name where the system tells it, else its architecture."""
    lines = _CPU_INFO.read_text().splitlines() if _CPU_INFO.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _memory_gib() -> float | None:
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on this system
        return None
    return round(size / (1 << 30), 1)
