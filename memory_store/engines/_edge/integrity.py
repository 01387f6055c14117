"""How a memory tells whether it is as it was written: marks in each point, a seal on its files.

Beside its content, the payload of a point carries marks: the number of the write, a digest of its
keys and words, and a digest of all of this. They are added and removed here; users never see them.

A closed memory has a seal: the size and a checksum of each of its files. If it is intact on
opening, the rounds need not be read, as the files are as they were left. A file that differs is
reported before the engine touches anything. A memory without a seal was not closed, so its rounds
are compared with the ledger.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memory_store._disk import sync_folder
from memory_store.embedding.encoder import Matrix
from memory_store.engines._engine import Payload

MARKS = "_marks"
"""The payload field that holds the marks."""
_DIGEST_BYTES = 8


class PointMarks(NamedTuple):
    """The marks of a point; digests as hexadecimal text."""

    write: int
    vectors: str
    digest: str

    @property
    def digest_bytes(self) -> bytes:
        """The digest as a ledger keeps it."""
        return bytes.fromhex(self.digest)


def marks_of(payload: Payload) -> PointMarks | None:
    """The marks of a payload; None if it has none that can be read."""
    match payload.get(MARKS):
        case [int(write), str(vectors), str(digest)]:
            return PointMarks(write, vectors, digest)
    return None


def marked(payload: Payload, write: int, vectors: str) -> dict[str, Any]:
    """The payload with new marks in place of any it had."""
    bare = unmarked(payload)
    return {**bare, MARKS: [write, vectors, _digest(bare, write, vectors)]}


def is_whole(payload: Payload) -> bool:
    """Whether the payload is as it was written. A payload without marks is not."""
    marks = marks_of(payload)
    return marks is not None and marks.digest == _digest(unmarked(payload), *marks[:2])


def unmarked(payload: Payload) -> dict[str, Any]:
    """The payload without its marks."""
    return {name: value for name, value in payload.items() if name != MARKS}


def digest_of_vectors(keys: Matrix, words: Mapping[int, float]) -> str:
    """A digest of the keys, as the 16-bit floats they are kept as, and of the words."""
    sum = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    sum.update(np.asarray(keys, dtype=np.float16).tobytes())
    sum.update(json.dumps(sorted(words.items())).encode())
    return sum.hexdigest()


def _digest(bare: Payload, write: int, vectors: str) -> str:
    said: Sequence[Any] = [write, vectors, bare]
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES
    ).hexdigest()


SEAL = "seal"
_ARRIVING = f"{SEAL}.new"
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
    arriving.replace(folder / SEAL)
    sync_folder(folder)


def is_sealed(folder: Path) -> bool:
    """Whether the folder was closed."""
    return (folder / SEAL).exists()


def broken(folder: Path) -> list[str]:
    """The names of the files that are not as the seal says; that of the seal if it cannot be
    read."""
    try:
        told = json.loads((folder / SEAL).read_text(encoding="utf-8"))
        files: _Files = told["files"]
        if told["checksum"] != _checksum(files):
            return [SEAL]
    except (ValueError, KeyError, TypeError):
        return [SEAL]
    found = _described(folder)
    return sorted(name for name in files.keys() | found if files.get(name) != found.get(name))


def unseal(folder: Path) -> None:
    """Remove the seal, so that the folder may be written to."""
    (folder / SEAL).unlink(missing_ok=True)
    sync_folder(folder)


def _described(folder: Path) -> _Files:
    """The size and the checksum of each file, by its path in the folder."""
    ours = (folder / SEAL, folder / _ARRIVING)
    paths = (path for path in folder.rglob("*") if path.is_file() and path not in ours)
    return {
        path.relative_to(folder).as_posix(): [path.stat().st_size, checksum_of(path)]
        for path in paths
    }


def checksum_of(path: Path) -> int:
    """A checksum of a file's content that skips chunks of zeros. Much of a memory is reserved room,
    which a copy of the file may or may not write out."""
    found = 0
    with path.open("rb") as file:
        for start, end in _parts_with_data(file.fileno()):
            for at in range(start - start % _CHUNK, end, _CHUNK):
                chunk = os.pread(file.fileno(), _CHUNK, at)
                if not _ZEROS.startswith(chunk):
                    found = zlib.crc32(chunk, zlib.crc32(str(at).encode(), found))
    return found


def _parts_with_data(file: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that are not holes; no two of them share a chunk."""
    size = os.fstat(file).st_size
    at = 0
    while at < size:
        try:
            start = os.lseek(file, at, os.SEEK_DATA)
            end = os.lseek(file, start, os.SEEK_HOLE)
        except AttributeError:  # a system that does not tell where holes are
            start, end = at, size
        except OSError:  # nothing but a hole is left
            return
        yield start, end
        at = -(-end // _CHUNK) * _CHUNK


def _checksum(files: Any) -> int:
    return zlib.crc32(json.dumps(files, sort_keys=True).encode())
