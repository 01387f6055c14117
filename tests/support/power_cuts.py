"""Power cuts for tests: a file system whose disk can be taken as it is at one instant.

The memory lies on ext4 in a file that is mounted as a disk; what the system has not yet written
there is not in the file. A copy of the file, taken at one instant, is the disk after a power cut.
Needs root, loop devices, and a place whose copies are instant (XFS, made here in another file).
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DISK_MB = 900


def missing() -> str:
    """Why power cuts cannot be tried here; empty where they can."""
    if os.geteuid():
        return "only root can mount"
    tools = [tool for tool in ("mkfs.ext4", "mkfs.xfs", "losetup") if not shutil.which(tool)]
    if tools:
        return f"{', '.join(tools)}: install e2fsprogs, xfsprogs and mount"
    return "" if Path("/dev/loop-control").exists() else "there are no loop devices"


class Disk:
    """A disk to write on, and what is on it when the power goes."""

    def __init__(self, room: Path, mounted: Path) -> None:
        self._file = room / "disk"
        self._room = room
        self._mounted = mounted
        self._cuts = 0

    @property
    def folder(self) -> Path:
        """Where it is mounted."""
        return self._mounted / "live"

    @contextmanager
    def after_a_cut(self) -> Iterator[Path]:
        """What is found on the disk if the power goes now; the machine itself goes on."""
        self._cuts += 1
        copy, folder = self._room / f"cut-{self._cuts}", self._mounted / f"cut-{self._cuts}"
        _run("cp", "--reflink=always", self._file, copy)
        folder.mkdir()
        _run("mount", "-o", "loop", copy, folder)
        try:
            yield folder
        finally:
            _run("umount", folder)
            copy.unlink()


@contextmanager
def a_disk(place: Path) -> Iterator[Disk]:
    """A disk in files under `place`."""
    room, mounted = place / "room", place / "mounted"
    for folder in (room, mounted / "live"):
        folder.mkdir(parents=True)
    _make(place / "room.image", "mkfs.xfs", 4 * _DISK_MB)
    _run("mount", "-o", "loop", place / "room.image", room)
    try:
        disk = Disk(room, mounted)
        _make(room / "disk", "mkfs.ext4", _DISK_MB)
        _run("mount", "-o", "loop", room / "disk", disk.folder)
        try:
            yield disk
        finally:
            _run("umount", disk.folder)
    finally:
        _run("umount", room)
        (place / "room.image").unlink()


def _make(file: Path, make: str, megabytes: int) -> None:
    file.touch()
    os.truncate(file, megabytes << 20)
    _run(make, "-q", file)


def _run(*command: object) -> None:
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
