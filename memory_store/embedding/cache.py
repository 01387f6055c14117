"""Vectors by key, in memory and in one SQLite file, so that no text need be encoded twice."""

import logging
import sqlite3
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from memory_store._disk import make_private
from memory_store.embedding.encoder import Matrix

Vector = npt.NDArray[np.float32]
_Result = TypeVar("_Result")
_log = logging.getLogger(__name__)


class VectorCache:
    """Up to `capacity` vectors in one block of memory; the least recently used are forgotten first.
    For one thread at a time.

    It is one block, because thousands of small long-lived arrays between the encoder's large
    short-lived ones would leave holes in the heap that nothing fits into.
    """

    def __init__(self, capacity: int, dimension: int) -> None:
        # The operating system gives memory to rows only when they are first written.
        self._rows = np.empty((capacity, dimension), dtype=np.float32)
        self._row_by_key: OrderedDict[Hashable, int] = OrderedDict()
        self._left: list[int] = []  # rows of vectors that were forgotten

    def __len__(self) -> int:
        return len(self._row_by_key)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._row_by_key

    def get(self, key: Hashable) -> Vector | None:
        """A copy of the vector, which does not change when the row is used again."""
        row = self._row_by_key.get(key)
        if row is None:
            return None
        self._row_by_key.move_to_end(key)
        vector: Vector = self._rows[row].copy()
        return vector

    def rows(self, keys: Sequence[Hashable]) -> Matrix | None:
        """A copy of the vectors, one row per key; None if one of them is missing."""
        rows = [self._row_by_key.get(key, -1) for key in keys]
        if -1 in rows:
            return None
        for key in keys:
            self._row_by_key.move_to_end(key)
        return self._rows[rows]

    def put(self, key: Hashable, vector: Vector) -> None:
        """Keep a vector. If all rows are taken, it replaces the least recently used one."""
        if not len(self._rows):
            return
        row = self._row_by_key.pop(key, None)
        if row is None:
            row = self._free_row()
        self._row_by_key[key] = row
        self._rows[row] = vector

    def forget(self, key: Hashable) -> None:
        """Let go of a vector, if it is there; nothing of it stays in memory."""
        row = self._row_by_key.pop(key, None)
        if row is not None:
            self._rows[row] = 0
            self._left.append(row)

    def clear(self) -> None:
        """Let go of all vectors; nothing of them stays in memory."""
        self._rows[: len(self._row_by_key) + len(self._left)] = 0
        self._row_by_key.clear()
        self._left.clear()

    def _free_row(self) -> int:
        if self._left:
            return self._left.pop()
        used = len(self._row_by_key)
        return used if used < len(self._rows) else self._row_by_key.popitem(last=False)[1]


# This changes when the rows mean something else; a file of another version is replaced.
_FORMAT = 1
# Several vectors fit into such a page; the default size would leave a quarter of each page empty.
_PAGE_BYTES = 8192
# The write-ahead log is moved into the file when it has this many pages.
_LOG_PAGES = 500
# How long a write waits for another process's write; the texts of a caller may wait behind it.
_WAIT_SECONDS = 0.2
# When the file is full, one in this many vectors goes, the oldest first.
_EVICTED_SHARE = 16
# Every version of SQLite takes at least this many parameters in one statement.
_MOST_PARAMETERS = 999


class DiskCache:
    """Up to `max_bytes` of vectors; the oldest go first. For one thread at a time.

    It is only a cache: it can be deleted at any time, and its failures stop nobody. A vector that
    cannot be read is a miss, one that cannot be written is not kept, and only the first failure is
    logged. Several processes may share the file, which is opened on first use. A damaged file is
    deleted and begun anew.
    """

    def __init__(self, file: Path, *, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._connection: sqlite3.Connection | None = None
        self._failed = False

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors that are there of these keys, by key."""
        return self._attempt(lambda database: _read(database, keys)) or {}

    def put(self, vectors: Mapping[bytes, Vector]) -> None:
        """Keep vectors; a key that has a vector keeps that one."""
        self._attempt(lambda database: self._write(database, vectors))

    def forget(self, keys: Sequence[bytes]) -> None:
        """Delete vectors; nothing of them stays in the file."""
        self._attempt(lambda database: _delete(database, keys))

    def clear(self) -> None:
        """Delete all vectors."""
        self._attempt(_delete_all)

    def close(self) -> None:
        """Release the file."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _attempt(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result | None:
        try:
            try:
                return work(self._database())
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._say(f"it cannot be read ({error}) and is begun anew")
                self._discard()
                return work(self._database())
        except (sqlite3.Error, OSError) as error:
            self._say(f"it cannot be used ({error}); texts are encoded again instead")
            return None

    def _database(self) -> sqlite3.Connection:
        if self._connection is None:
            make_private(self._file.parent)
            self._connection = sqlite3.connect(self._file, timeout=_WAIT_SECONDS)
            try:
                _prepare(self._connection)
            except sqlite3.Error:
                self.close()
                raise
        return self._connection

    def _discard(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)

    def _write(self, database: sqlite3.Connection, vectors: Mapping[bytes, Vector]) -> None:
        rows = [(key, _packed(vector)) for key, vector in vectors.items()]
        with database:
            database.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)
            while _used_bytes(database) > self._max_bytes:
                if not _evict(database):
                    break
        # `executescript`, because `execute` would take only one step of it, which frees one page.
        database.executescript("PRAGMA incremental_vacuum")

    def _say(self, problem: str) -> None:
        if not self._failed:
            self._failed = True
            _log.warning("vector cache %s: %s", self._file, problem)


def _prepare(database: sqlite3.Connection) -> None:
    format = int(database.execute("PRAGMA user_version").fetchone()[0])
    if format not in (0, _FORMAT):
        raise _Damaged(f"format {format} instead of {_FORMAT}")
    # These two pragmas count for a new file only.
    database.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    # Readers and a writer do not wait for each other, and a commit does not wait for the disk:
    # after a power cut the last vectors may be missing, never half there.
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
    # SQLite overwrites deleted bytes, too.
    database.execute("PRAGMA secure_delete = ON")
    with database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS vectors"
            " (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)"
        )
        database.execute(f"PRAGMA user_version = {_FORMAT}")


def _read(database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Vector]:
    found: dict[bytes, Vector] = {}
    for start in range(0, len(keys), _MOST_PARAMETERS):
        part = keys[start : start + _MOST_PARAMETERS]
        marks = ",".join("?" * len(part))
        rows = database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
        found |= {key: _vector(packed) for key, packed in rows}
    return found


def _delete(database: sqlite3.Connection, keys: Sequence[bytes]) -> None:
    with database:
        database.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys])
    _empty_log(database)


def _delete_all(database: sqlite3.Connection) -> None:
    with database:
        database.execute("DELETE FROM vectors")
    database.executescript("PRAGMA incremental_vacuum")
    _empty_log(database)


def _empty_log(database: sqlite3.Connection) -> None:
    """Empty the write-ahead log, which still holds what was deleted."""
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _packed(vector: Vector) -> bytes:
    """The vector as bytes after a checksum, as SQLite itself would not notice a flipped bit."""
    numbers = vector.astype("<f4").tobytes()
    return zlib.crc32(numbers).to_bytes(4, "little") + numbers


def _vector(packed: bytes) -> Vector:
    checksum, numbers = packed[:4], packed[4:]
    if zlib.crc32(numbers).to_bytes(4, "little") != checksum:
        raise _Damaged("a vector does not match its checksum")
    return np.frombuffer(numbers, "<f4").astype(np.float32)


def _used_bytes(database: sqlite3.Connection) -> int:
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    (free,) = database.execute("PRAGMA freelist_count").fetchone()
    return int(pages - free) * _PAGE_BYTES


def _evict(database: sqlite3.Connection) -> int:
    """Delete a share of the vectors, the oldest ones, and return how many."""
    return database.execute(
        "DELETE FROM vectors WHERE number <= (SELECT MIN(number) FROM vectors)"
        f" + (SELECT COUNT(*) FROM vectors) / {_EVICTED_SHARE}"
    ).rowcount


class _Damaged(sqlite3.DatabaseError):
    """Damage that SQLite itself cannot see."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    # The lower byte is the kind of error; the higher ones only give details.
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return kind in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
