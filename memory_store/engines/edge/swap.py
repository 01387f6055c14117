"""How a new embedded index takes the place of the old one: two renames, each of them whole.

The new index lies beside the old one until it is complete. A crash between the renames leaves the
new one without the old beside it, which happens in no other way, so the next opening finishes it.
"""

import os
import shutil
from pathlib import Path


def next_to(directory: Path) -> Path:
    """Where the index lies that will take the directory's place."""
    return directory.with_name(directory.name + ".next")


def old_of(directory: Path) -> Path:
    """Where the index lies that had the directory's place before."""
    return directory.with_name(directory.name + ".old")


def swap(directory: Path) -> None:
    """Put the complete index beside `directory` in its place, and keep the old one."""
    shutil.rmtree(old_of(directory), ignore_errors=True)
    directory.rename(old_of(directory))
    finish_swap(directory)


def finish_swap(directory: Path) -> None:
    """The second rename, where only the first was made; does nothing otherwise."""
    if not directory.exists() and next_to(directory).exists():
        next_to(directory).rename(directory)
        _write_down(directory.parent)


def _write_down(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
