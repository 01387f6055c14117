"""The ledger: what an embedded memory must hold, kept apart from the engine's own files.

Each write appends an entry: which point, the number of the write, and a digest of what it wrote. So
lost, outdated and altered rounds are noticed. An entry is written once the engine's log is on the
disk, so that it claims nothing that a power cut could take back.

The ledger itself reaches the disk a little later. If a power cut takes its last entries, the
numbers of the writes show it: the ledger has missed points of later writes than its last entry.
"""

import errno
import os
import struct
import uuid
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Self

from memory_store._disk import sync_open
from memory_store.engines._edge.integrity import PointMarks
from memory_store.engines._layout import IDENTITY_ID

_MAGIC = b"aide-memoire ledger 1\n"
_ENTRY = struct.Struct("<IBQ16s8s")
_CHECKED = 4
# The ledger is written anew when it has this many entries per existing point.
_WORN = 3


class EntryKind(IntEnum):
    """What an entry says of a point."""

    HELD = 1
    """It was written."""
    GOING = 2
    """It is about to be deleted: it may be there, or not."""
    GONE = 3
    """It was deleted."""
    ERASED = 4
    """Its text was written over, and no trace of it is to stay."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One entry. `id` are the 16 bytes of the point's UUID, `digest` 8 bytes."""

    kind: EntryKind
    write: int
    id: bytes
    digest: bytes = bytes(8)

    @classmethod
    def held(cls, id: bytes, marks: PointMarks) -> Self:
        """The entry of a point that was written with these marks."""
        return cls(EntryKind.HELD, marks.write, id, marks.digest_bytes)

    def packed(self) -> bytes:
        """The entry as bytes, with a checksum in front."""
        body = _ENTRY.pack(0, self.kind, self.write, self.id, self.digest)[_CHECKED:]
        return struct.pack("<I", zlib.crc32(body)) + body


@dataclass(slots=True)
class Account:
    """The sum of all entries of a ledger."""

    held: dict[bytes, LedgerEntry] = field(default_factory=dict)
    """The points that must be there, by id."""
    going: set[bytes] = field(default_factory=set)
    """Points whose deletion was begun: there or not."""
    gone: dict[bytes, int] = field(default_factory=dict)
    """The points that were deleted, with the number of the write."""
    last: int = 0
    """The number of the last write."""
    erased: int = 0
    """How many texts were deleted or written over since the files were last made anew."""
    entries: int = 0
    unreadable: int = 0
    """How many entries cannot be read: they are torn by a power cut, or damaged."""

    def add(self, entry: LedgerEntry) -> None:
        """Take one more entry into account."""
        self.entries += 1
        self.last = max(self.last, entry.write)
        if entry.kind is EntryKind.ERASED:
            self.erased += 1
        elif entry.kind is EntryKind.HELD:
            # It may be written beside a deletion under way and go with that, so it stays in
            # `going`, and the deletion's own entry settles it.
            self.held[entry.id] = entry
            self.gone.pop(entry.id, None)
        elif entry.kind is EntryKind.GOING:
            self.going.add(entry.id)
        else:
            self.held.pop(entry.id, None)
            self.going.discard(entry.id)
            self.gone[entry.id] = entry.write
            self.erased += 1

    @property
    def rounds(self) -> int:
        """How many points must be there, without the point of the memory's identity."""
        return len(self.held.keys() - {uuid.UUID(IDENTITY_ID).bytes})

    @property
    def is_worn(self) -> bool:
        """Whether most entries are out of date."""
        return self.entries > _WORN * (len(self.held) + 100)


class Ledger:
    """The open ledger of a shard, for appending."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._size = os.fstat(self._file).st_size

    @classmethod
    def create(cls, path: Path, account: Account) -> Self:
        """Write a ledger with this account, in place of any earlier one, and open it."""
        erased = [LedgerEntry(EntryKind.ERASED, account.last, bytes(16))] * account.erased
        going = [LedgerEntry(EntryKind.GOING, account.last, id) for id in sorted(account.going)]
        entries = [*account.held.values(), *going, *erased]
        arriving = path.with_name(f"{path.name}.new")
        with arriving.open("wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(_MAGIC)
            for entry in entries:
                file.write(entry.packed())
            file.flush()
            os.fsync(file.fileno())
        arriving.replace(path)
        return cls(path)

    def append(self, entries: Iterable[LedgerEntry]) -> None:
        """Add entries. At once they survive the end of the process, after `sync` a power cut."""
        data = b"".join(entry.packed() for entry in entries)
        if data and os.write(self._file, data) < len(data):
            # A full disk takes only a part. Entries after such a part would not be found again.
            os.ftruncate(self._file, self._size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        self._size += len(data)

    def sync(self) -> None:
        """Put what was added on the disk."""
        sync_open(self._file)

    @property
    def is_there(self) -> bool:
        """Whether the file is still at its path: its folder was neither deleted nor moved away."""
        try:
            named = os.stat(self.path)
        except FileNotFoundError:
            return False
        return os.path.samestat(named, os.fstat(self._file))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_ledger(path: Path) -> Account | None:
    """The account of a ledger; None if the file does not exist or is no ledger.

    Entries that cannot be read are counted and skipped. In a torn tail they belong to writes that
    were not acknowledged, or to writes that the marks of the points show.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    if not data.startswith(_MAGIC):
        return None
    account = Account()
    for start in range(len(_MAGIC), len(data), _ENTRY.size):
        entry = _unpacked(data[start : start + _ENTRY.size])
        if entry is None:
            account.unreadable += 1
        else:
            account.add(entry)
    return account


def _unpacked(data: bytes) -> LedgerEntry | None:
    if len(data) < _ENTRY.size:
        return None
    checksum, kind, write, id, digest = _ENTRY.unpack(data)
    if checksum != zlib.crc32(data[_CHECKED:]):
        return None
    return LedgerEntry(EntryKind(kind), write, id, digest)
