"""The seal of a memory that was closed: the size and a checksum of each of its files.

An opening that finds the seal intact need not read the rounds: the files are as they were left. A
file that is not is named, before the engine touches anything. Without a seal the memory was not
closed, and its rounds are compared with the ledger.
"""

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_store.engines.edge.sync import sync_folder

NAME = "seal"
_ARRIVING = f"{NAME}.new"
_CHUNK = 1 << 16
_ZEROS = bytes(_CHUNK)
_Files = dict[str, list[int]]


def seal(folder: Path) -> None:
    """Seal a folder that nobody writes to any more. What is in it must be on the disk already."""
    files = _described(folder)
    told = {"files": files, "checksum": _checksum(files)}
    arriving = folder / _ARRIVING
    with arriving.open("w", encoding="utf-8") as file:
        json.dump(told, file)
        file.flush()
        os.fsync(file.fileno())
    arriving.replace(folder / NAME)
    sync_folder(folder)


def is_sealed(folder: Path) -> bool:
    """Whether the folder was closed."""
    return (folder / NAME).exists()


def broken(folder: Path) -> list[str]:
    """The names of the files that are not as the seal says; that of the seal if it cannot be
    read."""
    try:
        told = json.loads((folder / NAME).read_text(encoding="utf-8"))
        files: _Files = told["files"]
        if told["checksum"] != _checksum(files):
            return [NAME]
    except (ValueError, KeyError, TypeError):
        return [NAME]
    found = _described(folder)
    return sorted(name for name in files.keys() | found if files.get(name) != found.get(name))


def unseal(folder: Path) -> None:
    """Break the seal: from here on somebody may write."""
    (folder / NAME).unlink(missing_ok=True)
    sync_folder(folder)


def _described(folder: Path) -> _Files:
    """The size and the checksum of each file, by its path in the folder."""
    ours = (folder / NAME, folder / _ARRIVING)
    paths = (path for path in folder.rglob("*") if path.is_file() and path not in ours)
    return {
        path.relative_to(folder).as_posix(): [path.stat().st_size, checksum_of(path)]
        for path in paths
    }


def checksum_of(path: Path) -> int:
    """A checksum of what a file holds, in which places that hold only zeros do not count: much of
    a memory is reserved room, which a copy may or may not write out."""
    found = 0
    with path.open("rb") as file:
        for start, end in _parts_with_data(file.fileno()):
            for at in range(start - start % _CHUNK, end, _CHUNK):
                chunk = os.pread(file.fileno(), _CHUNK, at)
                if not _ZEROS.startswith(chunk):
                    found = zlib.crc32(chunk, zlib.crc32(str(at).encode(), found))
    return found


def _parts_with_data(file: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that are not holes, each begun at a chunk that was not read before."""
    size = os.fstat(file).st_size
    at = 0
    while at < size:
        try:
            start = os.lseek(file, at, os.SEEK_DATA)
            end = os.lseek(file, start, os.SEEK_HOLE)
        except AttributeError:  # a system that does not tell
            start, end = at, size
        except OSError:  # nothing but a hole is left
            return
        yield start, end
        at = -(-end // _CHUNK) * _CHUNK


def _checksum(files: Any) -> int:
    return zlib.crc32(json.dumps(files, sort_keys=True).encode())
