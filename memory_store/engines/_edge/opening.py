"""Opening an embedded memory, with a check that all acknowledged points are there as written.

A memory that was closed carries a seal: its files are compared, which takes a fifth of a second for
ten thousand rounds. A memory that was not closed (a crash, a power cut) is read whole and compared
with its ledger. If points are missing or altered, the error says so and the memory is not opened:
to go on as if nothing had happened would let a loss become permanent, and unnoticed.
"""

import logging
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import qdrant_edge as qe

from memory_store._disk import make_private, sync_folder, sync_tree
from memory_store.engines._edge.integrity import (
    MARKS,
    PointMarks,
    broken,
    digest_of_vectors,
    is_sealed,
    is_whole,
    marked,
    marks_of,
    unseal,
)
from memory_store.engines._edge.ledger import Account, Ledger, LedgerEntry, read_ledger
from memory_store.engines._edge.points import config, explaining, indexes, to_filter
from memory_store.engines._edge.shard import LEDGER, Shard, vectors_of
from memory_store.engines._edge.sync import Durability
from memory_store.engines._engine import UserScope
from memory_store.engines._layout import USER
from memory_store.errors import StoreDamaged

_log = logging.getLogger(__name__)

_PAGE = 128
# Reading more rounds than this takes a second, so the log says it.
_WORTH_SAYING = 10_000
_MOST_NAMED = 3
_NO_LEDGER = "its ledger is missing or cannot be read"


def create(folder: Path, dimension: int, rounds: int = 0) -> None:
    """Make an empty shard for about this many rounds, completely or not at all."""
    building = folder.with_name(folder.name + ".new")
    shutil.rmtree(building, ignore_errors=True)
    make_private(building.parent)
    make_private(building)
    shard = qe.EdgeShard.create(str(building), config(dimension, rounds))
    for name, schema in indexes().items():
        shard.update(qe.UpdateOperation.create_field_index(name, schema))
    shard.close()
    Ledger.create(building / LEDGER, Account()).close()
    sync_tree(building)
    building.rename(folder)
    sync_folder(folder.parent)
    sync_folder(folder.parent.parent)


@dataclass(slots=True)
class LedgerCheck:
    """The result of comparing a whole memory with its ledger. Ids are those of points."""

    whole: int = 0
    absent: set[bytes] = field(default_factory=set)
    """Points that the ledger has and the memory has not."""
    missing: set[bytes] = field(default_factory=set)
    """Those absent points that nobody had begun to delete."""
    altered: set[bytes] = field(default_factory=set)
    """Points that are not as they were written."""
    older: set[bytes] = field(default_factory=set)
    """Points that are as an earlier write left them, not the last one."""
    returned: set[bytes] = field(default_factory=set)
    """Points that were deleted and are there again."""
    hidden: int = 0
    """How many points are there but are not found by their user or session."""
    later: list[LedgerEntry] = field(default_factory=list)
    """New entries for whole points of the last writes, which the ledger has missed."""
    unmarked: dict[uuid.UUID, PointMarks] = field(default_factory=dict)
    """Whole points without marks, with the marks they need; the marking of an old memory was
    interrupted before it reached them."""

    @property
    def damage(self) -> str:
        """The damage in words; empty if there is none."""
        found = (
            (len(self.missing), "missing"),
            (len(self.altered), "not as written"),
            (len(self.older), "without their last change"),
            (len(self.returned), "there again though they were forgotten"),
            (self.hidden, "not found by their user or session"),
        )
        return ", ".join(f"{count} {what}" for count, what in found if count)


def open_shard(folder: Path, durability: Durability) -> Shard:
    """Open an existing shard. Raises `StoreDamaged`, and for the engine's failures the errors that
    `explaining` makes of them."""
    was_closed = _unsealed(folder)
    with explaining(folder):
        shard = qe.EdgeShard.load(str(folder))
    try:
        account = read_ledger(folder / LEDGER)
        if account is None:
            account = _taken_up(folder, shard)
        elif not was_closed:
            _admit(folder, shard, account)
        if was_closed and not account.is_worn:
            ledger = Ledger(folder / LEDGER)
        else:
            ledger = Ledger.create(folder / LEDGER, account)
    except BaseException:
        shard.close()
        raise
    return Shard(folder, shard, ledger, durability, last=account.last, erased=account.erased)


def verify(shard: Shard) -> None:
    """Read all of an open memory. Raises `StoreDamaged` if it is not what its ledger says."""
    account = read_ledger(shard.folder / LEDGER)
    if account is None:
        raise StoreDamaged(_refusal(shard.folder, _NO_LEDGER))
    if found := compare(shard.raw, account).damage:
        raise StoreDamaged(_refusal(shard.folder, f"of {account.rounds} memories {found}"))


def _unsealed(folder: Path) -> bool:
    """Remove the seal. Return whether the folder was closed and is as it was then. Raises
    `StoreDamaged` if it has changed."""
    if not is_sealed(folder):
        return False
    files = broken(folder)
    # Another process may have opened it while we were reading: the engine's lock will tell.
    if files and is_sealed(folder):
        raise StoreDamaged(_refusal(folder, f"changed while it was closed: {_listed(files)}"))
    unseal(folder)
    return not files


def _admit(folder: Path, shard: qe.EdgeShard, account: Account) -> None:
    """Read all of a memory that was not closed, and add its last writes to the account. Raises
    `StoreDamaged` if it is not whole."""
    if account.rounds > _WORTH_SAYING:
        _log.warning("%s was not closed cleanly; checking all %d rounds", folder, account.rounds)
    found = compare(shard, account)
    if found.damage:
        raise StoreDamaged(_refusal(folder, f"of {account.rounds} memories {found.damage}"))
    mark(shard, found.unmarked)
    for entry in found.later:
        account.add(entry)
    for id in account.going & found.absent:
        del account.held[id]
    account.going.clear()


def _taken_up(folder: Path, shard: qe.EdgeShard) -> Account:
    """Take up a memory made before there were ledgers: mark its points, and return its account."""
    account, marks = Account(), dict[uuid.UUID, PointMarks]()
    for point in _points(shard):
        if MARKS in (point.payload or {}):
            raise StoreDamaged(_refusal(folder, _NO_LEDGER))
        account.last += 1
        marks[point.id] = found = _marks_for(point, account.last)
        account.add(LedgerEntry.held(point.id.bytes, found))
    # The ledger comes first: after an interruption the next opening marks the other points.
    Ledger.create(folder / LEDGER, account).close()
    mark(shard, marks)
    return account


def compare(shard: qe.EdgeShard, account: Account) -> LedgerCheck:
    """Read all of a memory, and compare it with what its ledger says."""
    found = LedgerCheck(absent=set(account.held))
    places: Counter[tuple[str, str]] = Counter()
    for point in _points(shard):
        found.absent.discard(point.id.bytes)
        if _is_as_told(point, account, found):
            found.whole += 1
            if USER in point.payload:
                places[point.payload[USER], point.payload["session_id"]] += 1
    found.missing = found.absent - account.going
    found.hidden = _hidden(shard, places)
    return found


def _is_as_told(point: Any, account: Account, found: LedgerCheck) -> bool:
    """Whether a point is whole and as the last write left it; `found` notes it if it is not."""
    id, told = point.id.bytes, account.held.get(point.id.bytes)
    marks = marks_of(point.payload or {})
    if marks is None and told:
        due = _marks_for(point, told.write)
        if LedgerEntry.held(id, due) == told:
            found.unmarked[point.id] = due
            return True
    if marks is None or not is_whole(point.payload) or marks.vectors != _vectors_digest(point):
        found.altered.add(id)
    elif told and (marks.write, marks.digest_bytes) == (told.write, told.digest):
        return True
    elif marks.write > (told.write if told else account.gone.get(id, 0)):
        # It was written last, and perhaps never acknowledged.
        found.later.append(LedgerEntry.held(id, marks))
        return True
    else:
        (found.older if told else found.returned).add(id)
    return False


def _hidden(shard: qe.EdgeShard, places: Counter[tuple[str, str]]) -> int:
    """How many points are not found by their user and session, because an index is damaged."""
    hidden = 0
    users: Counter[str] = Counter()
    for (user_id, session_id), count in places.items():
        users[user_id] += count
        hidden += max(0, count - _count(shard, UserScope(user_id, session_id)))
    return hidden + sum(
        max(0, count - _count(shard, UserScope(user_id))) for user_id, count in users.items()
    )


def _count(shard: qe.EdgeShard, scope: UserScope) -> int:
    return int(shard.count(qe.CountRequest(exact=True, filter=to_filter(scope))))


def pages(shard: qe.EdgeShard, size: int = _PAGE) -> Iterator[list[Any]]:
    """Every point with its payload and vectors, unchecked, page by page."""
    offset: Any = None
    while True:
        request = qe.ScrollRequest(offset=offset, limit=size, with_payload=True, with_vector=True)
        points, offset = shard.scroll(request)
        yield points
        if offset is None:
            return


def _points(shard: qe.EdgeShard) -> Iterator[Any]:
    return chain.from_iterable(pages(shard))


def mark(shard: qe.EdgeShard, marks: Mapping[uuid.UUID, PointMarks]) -> None:
    """Give points their marks."""
    for id, its in marks.items():
        shard.update(qe.UpdateOperation.set_payload([id], {MARKS: list(its)}))


def _marks_for(point: Any, write: int) -> PointMarks:
    marks = marks_of(marked(point.payload or {}, write, _vectors_digest(point)))
    assert marks is not None
    return marks


def _vectors_digest(point: Any) -> str:
    return digest_of_vectors(*vectors_of(point))


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
    return ", ".join(files[:_MOST_NAMED]) + more


def _refusal(folder: Path, what: str) -> str:
    return (
        f"the memory in {folder} is damaged ({what}). Restore a backup with `assistant restore`, "
        "or keep what can still be read with `assistant repair`"
    )
