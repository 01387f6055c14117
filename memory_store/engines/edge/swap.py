"""How one embedded index takes the place of another: two renames, each of them whole.

The new index lies beside the old one until it is complete: `edge.next` while `assistant reindex`
builds it, `edge.scrubbed` while the files are written anew. A crash between the renames leaves the
new one without the old one in its place; the next opening finishes it.
"""

import shutil
from pathlib import Path

from memory_store.engines.edge.sync import sync_folder


def next_to(directory: Path) -> Path:
    """Where the index lies that a reindex will put in the directory's place."""
    return _beside(directory, "next")


def old_of(directory: Path) -> Path:
    """Where a reindex leaves the index that had the directory's place before."""
    return _beside(directory, "old")


def scrubbed_of(directory: Path) -> Path:
    """Where the files of the directory are written anew."""
    return _beside(directory, "scrubbed")


def gone_of(directory: Path) -> Path:
    """Where the old files lie while the new ones take their place."""
    return _beside(directory, "gone")


def swap(directory: Path, coming: Path, going: Path) -> None:
    """Put the complete index `coming` in the directory's place, and keep the old one at `going`."""
    shutil.rmtree(going, ignore_errors=True)
    directory.rename(going)
    coming.rename(directory)
    sync_folder(directory.parent)


def finish_swap(directory: Path) -> None:
    """The second rename, where only the first was made; does nothing otherwise."""
    if directory.exists():
        return
    coming = next_to(directory)
    if gone_of(directory).exists():
        coming = scrubbed_of(directory)
    if coming.exists():
        coming.rename(directory)
        sync_folder(directory.parent)


def sweep(directory: Path) -> None:
    """Delete what an interrupted writing anew has left, once nobody else can be at it."""
    for left in (scrubbed_of(directory), gone_of(directory)):
        shutil.rmtree(left, ignore_errors=True)


def _beside(directory: Path, name: str) -> Path:
    return directory.with_name(f"{directory.name}.{name}")
