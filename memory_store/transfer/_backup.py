"""`assistant backup`, `assistant restore` and `assistant repair`: a whole memory as lines, a memory
made of them, and a damaged one that gets back from them what it lost.

The lines hold what was said and what is known of it; keys are made anew. A restored memory is
written back to lines and compared, so that what was restored is what was backed up.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import islice

from memory_store._changes.writing import Linking
from memory_store._identity import State, admit, maker, marked, place_of, refuse_unready, state_of
from memory_store._keys import Indexer, KeyDesign
from memory_store._owners import is_beside
from memory_store._types import Record
from memory_store.embedding.embedder import Embedder
from memory_store.engines._edge.operator import EdgeOperator, Repaired
from memory_store.engines._engine import Payload
from memory_store.engines._operator import OperatorEngine
from memory_store.errors import StoreMismatch, StoreNotEmpty, TransferUnfinished
from memory_store.transfer._filling import Progress, open_there
from memory_store.transfer._records import ending, exported, from_lines, header, to_line

_PAGE = 128
_BACKUP = "a backup"
# How JSON writes the character that separates a user from a space or a place beside the memory.
_CONTROL = "\\u001f"


@dataclass(frozen=True, slots=True)
class BackedUp:
    """The result of a backup: the rounds of all users, and a SHA-256 that does not depend on the
    order of their lines."""

    source: str
    rounds: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Restored:
    """Counts of a restore; the checksum is that of what is there now."""

    target: str
    rounds: int
    checksum: str


async def back_up(
    memory: OperatorEngine, write: Callable[[str], object], progress: Progress
) -> BackedUp:
    """Write every round as a line, in the order of their ids; the memory is only read.

    Raises `StoreMissing`, `StoreLocked`, `StoreUnready` and what the engine raises.
    """
    async with AsyncExitStack() as opened:
        opened.push_async_callback(memory.close)
        refuse_unready(await open_there(memory))
        progress.begin("backing up", await memory.total())
        written = LinesSum()
        async for line in exported(memory):
            write(f"{line}\n")
            progress.advance(written.add(line))
        return BackedUp(memory.place, written.rounds, written.checksum)


async def restore(
    memory: OperatorEngine,
    make_embedder: Callable[[], Embedder],
    lines: Iterable[str],
    progress: Progress,
    *,
    rounds: int,
    design: KeyDesign | None = None,
) -> Restored:
    """Fill an empty memory with the records of a backup; `rounds` is about how many these are.

    Until the memory is whole, no assistant opens it. Another run after an interruption begins anew.
    The embedder is only made once the place was found empty, and is closed at the end.

    Raises `StoreNotEmpty`, `StoreLocked`, `StoreMismatch`, `InvalidRecord`, `TransferUnfinished`,
    `EmbeddingFailed` and what the engine raises.
    """
    async with AsyncExitStack() as opened:
        opened.push_async_callback(memory.close)
        found = await _found_empty(memory)
        embedder = make_embedder()
        opened.push_async_callback(embedder.close)
        indexer = Indexer(embedder, design or KeyDesign())
        await _open_for(memory, found, indexer)
        await memory.sign(marked(indexer.identity, State.ARRIVING, _BACKUP))
        progress.begin("restoring", rounds)
        given = LinesSum()
        for page in _pages(from_lines(lines)):
            await memory.upsert(await indexer.points(page))
            for record in page:
                given.add(to_line(record))
            progress.advance(len(page))
        there = LinesSum()
        async for line in exported(memory):
            there.add(line)
        if (there.rounds, there.checksum) != (given.rounds, given.checksum):
            raise TransferUnfinished(
                f"{memory.place} does not hold what the backup holds, but {there.rounds} rounds "
                f"instead of {given.rounds}: is something else writing to it?"
            )
        await memory.sign(indexer.identity)
        return Restored(memory.place, there.rounds, there.checksum)


async def _found_empty(memory: OperatorEngine) -> Payload | None:
    """The identity of an empty memory; None if there is no memory. The rest of an interrupted
    restore is dropped. Raises `StoreNotEmpty` if there are rounds."""
    found = await memory.open_existing()
    if found is not None and _is_begun(found):
        await memory.drop()
        return None
    if found is not None and (held := await memory.total()):
        raise StoreNotEmpty(
            f"{memory.place} holds another memory of {held} rounds: restore into an empty place "
            "(another --data-dir, or another qdrant.collection)"
        )
    return found


async def _open_for(memory: OperatorEngine, found: Payload | None, indexer: Indexer) -> None:
    """Open a new memory, or keep the empty one that was found if it has the same identity."""
    if found is None:
        await memory.close()
        await memory.open(indexer.embedder.identity.dimension)
    elif maker(found) != indexer.identity:
        raise StoreMismatch(
            f"the empty memory in {memory.place} was made for {maker(found)}, not for "
            f"{dict(indexer.identity)}: remove it, or restore into another place"
        )


def _is_begun(identity: Payload) -> bool:
    return state_of(identity) is State.ARRIVING and place_of(identity) == _BACKUP


def _pages(records: Iterator[Record]) -> Iterator[Sequence[Record]]:
    while page := list(islice(records, _PAGE)):
        yield page


class LinesSum:
    """Counts the rounds in the lines of a backup, with a checksum that ignores their order."""

    def __init__(self) -> None:
        self._digests: list[bytes] = []
        self._beside = 0

    def add(self, line: str) -> int:
        """Add a line. Return how many records it holds: one, or none in the first and last line."""
        if line in (header(), ending(len(self._digests))):
            return 0
        self._digests.append(hashlib.sha256(line.encode()).digest())
        # Only lines with this character can be of a place beside a memory; few lines have it.
        self._beside += _CONTROL in line and is_beside(json.loads(line)["user_id"])
        return 1

    @property
    def rounds(self) -> int:
        """How many rounds there were, without records of places beside a memory, such as a list of
        members."""
        return len(self._digests) - self._beside

    @property
    def checksum(self) -> str:
        """SHA-256 over the sorted digests of the lines."""
        return hashlib.sha256(b"".join(sorted(self._digests))).hexdigest()


@dataclass(frozen=True, slots=True)
class Mended:
    """What a repair found, and how many of the lost rounds a backup brought back."""

    found: Repaired
    brought_back: int = 0


async def repair(
    memory: EdgeOperator,
    make_embedder: Callable[[], Embedder],
    backup: Iterable[str] | None = None,
    design: KeyDesign | None = None,
) -> Mended:
    """Keep all whole rounds, and take lost rounds from a backup, if one is given.

    Forgotten rounds are not brought back. Raises `StoreMissing`, `StoreLocked`, `StoreDamaged` if
    nothing can be read, `StoreMismatch`, `InvalidRecord` and `EmbeddingFailed`.
    """
    async with AsyncExitStack() as opened:
        opened.push_async_callback(memory.close)
        found = await memory.repair()
        if backup is None or not found.lost:
            return Mended(found)
        lost = [record for record in from_lines(backup) if record.id in found.lost]
        embedder = make_embedder()
        opened.push_async_callback(embedder.close)
        indexer = Indexer(embedder, design or KeyDesign())
        admit(await memory.identity() or {}, indexer.identity)
        linked = await Linking(memory, indexer.design.language).before_writing(lost)
        await memory.upsert(await indexer.points(linked))
        return Mended(found, len(lost))
