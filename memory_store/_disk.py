"""What the memory needs of a disk: free room, private folders, and writes that last.

An embedded engine writes through memory maps. On a full disk the operating system answers such a
write with a signal that ends the process, so no error can be caught. So free room is checked
before: the most that one call adds (a log segment, a page of each storage) fits in many times.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path

from memory_store.errors import StoreFull, StoreReadOnly

_MIB = 1024 * 1024
FOR_WRITING = 64 * _MIB
"""Free bytes that must be there before anything new is written."""
FOR_OPENING = 32 * _MIB
"""Free bytes that must be there to open or to forget: what the log holds may have to be applied."""


def require(free: int, directory: Path) -> None:
    """Raise `StoreFull` unless the disk of the directory has this many bytes free."""
    found = shutil.disk_usage(_nearest(directory)).free
    if found < free:
        raise StoreFull(
            f"the disk of {directory} is full: {found // _MIB} MiB are free and {free // _MIB} MiB "
            "must be, so nothing was written and nothing is lost. Free some space; "
            "`assistant check` says how it stands"
        )


def require_place(directory: Path) -> None:
    """Raise `StoreReadOnly` or `StoreFull` if no memory can be made in a directory that does not
    exist yet. Nothing is written."""
    there = _nearest(directory)
    if not there.is_dir():
        raise StoreReadOnly(f"{there} is not a folder: choose another --data-dir")
    if not os.access(there, os.W_OK | os.X_OK):
        raise StoreReadOnly(
            f"cannot write to {directory}: {there} is not writable. Make it writable for the "
            "user that runs the assistant, or give it another --data-dir; then run "
            "`assistant check`"
        )
    require(FOR_WRITING, directory)


def _nearest(directory: Path) -> Path:
    """The longest part of a path that exists."""
    return next(path for path in (directory, *directory.parents) if path.exists())


def make_private(folder: Path) -> None:
    """Make a folder that no other account can read; one that exists stays as it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def files_with(folders: Iterable[Path], words: Sequence[str]) -> tuple[int, dict[str, int]]:
    """How many files are in these folders, and in how many of them each word stands as bytes."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    found = dict.fromkeys(words, 0)
    for path in files:
        if path.stat().st_size:
            with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
                for word in words:
                    found[word] += content.find(word.encode("utf-8", "surrogatepass")) >= 0
    return len(files), found


def sync_open(file: int) -> None:
    """Put the content of an open file on the disk. Its times may follow later, on systems that can
    write them apart."""
    getattr(os, "fdatasync", os.fsync)(file)


def sync_file(path: Path) -> None:
    """Put what a file holds on the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        sync_open(file)
    finally:
        os.close(file)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def sync_tree(folder: Path) -> None:
    """Put everything in a folder on the disk, and its name in the folder above."""
    for path, _, names in os.walk(folder):
        for name in names:
            sync_file(Path(path, name))
        sync_folder(Path(path))
    sync_folder(folder.parent)
