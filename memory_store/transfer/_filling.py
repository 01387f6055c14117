"""Filling a target until it holds what its source holds, shown by counts and a checksum.

A pass walks both in the order of the ids, page by page, compares, and writes only what is missing
or different. So a pass over a complete target is the proof that it is complete, and a pass after a
crash is the resumption: nothing is recorded but the rounds themselves.
"""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_store._identity import run_of
from memory_store.engines._engine import Payload, Point
from memory_store.engines._operator import OperatorEngine
from memory_store.errors import StoreMissing, TransferUnfinished


class Progress(Protocol):
    """Hears of each step of a transfer and of the rounds it has dealt with."""

    def begin(self, step: str, rounds: int) -> None:
        """A step over so many rounds begins."""

    def advance(self, rounds: int) -> None:
        """Count so many more rounds as done."""


_PAGE = 128
_MOST_PASSES = 6


@dataclass(frozen=True, slots=True)
class RoundsSum:
    """How many rounds, and SHA-256 over the content of all of them in the order of their ids."""

    rounds: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass found and did. Both fingerprints are of what was read."""

    kept: int
    written: int
    removed: int
    source: RoundsSum
    target: RoundsSum

    @property
    def found_equal(self) -> bool:
        """Whether the target held, before the pass, exactly what the source held."""
        return self.changed == 0 and self.source == self.target

    @property
    def changed(self) -> int:
        """How many rounds of the target the pass wrote or removed."""
        return self.written + self.removed


@dataclass(frozen=True, slots=True)
class Filling:
    """A target being made to hold what a source holds.

    `content` is what must be equal of a round in both, `converted` makes the target's points from
    the source's. Only while the target's identity names this `run` may it go on.
    """

    source: OperatorEngine
    target: OperatorEngine
    run: str
    with_keys: bool
    content: Callable[[Point], bytes]
    converted: Callable[[Sequence[Point]], Awaitable[Sequence[Point]]]

    async def until_equal(self, progress: Progress, first_step: str) -> list[Pass]:
        """Passes until one finds nothing to do. Raises `TransferUnfinished`."""
        passes: list[Pass] = []
        while not passes or not passes[-1].found_equal:
            if len(passes) == _MOST_PASSES:
                raise TransferUnfinished(
                    f"{self.source.place} keeps changing: stop the assistants that use it, "
                    "then run the same command again"
                )
            passes.append(await self.once(progress, "checking" if passes else first_step))
        return passes

    async def once(self, progress: Progress, step: str) -> Pass:
        """One pass."""
        progress.begin(step, await self.source.total())
        ours, theirs = _Digest(), _Digest()
        kept = written = removed = 0
        after: str | None = None
        while True:
            page = await self.source.browse(after, _PAGE, with_keys=self.with_keys)
            last = page[-1].id if len(page) == _PAGE else None
            there = await self._held(after, last)
            wrong = [p for p in page if there.get(p.id) != ours.add(p.id, self.content(p))]
            gone = sorted(there.keys() - {point.id for point in page})
            for id in sorted(there):
                theirs.add_digest(id, there[id])
            await self._write(wrong, gone)
            kept += len(page) - len(wrong)
            written += len(wrong)
            removed += len(gone)
            progress.advance(len(page))
            if last is None:
                return Pass(kept, written, removed, ours.fingerprint, theirs.fingerprint)
            after = last

    async def _held(self, after: str | None, last: str | None) -> dict[str, bytes]:
        """The digests of the target's rounds after one id up to another, or to the end."""
        held: dict[str, bytes] = {}
        async for point in every_point(self.target, after, with_keys=self.with_keys):
            if last is not None and point.id > last:
                break
            held[point.id] = _digest(self.content(point))
        return held

    async def _write(self, wrong: Sequence[Point], gone: Sequence[str]) -> None:
        if not wrong and not gone:
            return
        points = await self.converted(wrong)
        if run_of(await self.target.identity() or {}) != self.run:
            raise TransferUnfinished(
                f"another command is writing to {self.target.place}: wait for it to finish"
            )
        await self.target.upsert(points)
        await self.target.remove(gone)


async def open_there(memory: OperatorEngine) -> Payload:
    """The identity of a memory that is there, which is open then. Raises `StoreMissing`."""
    identity = await memory.open_existing()
    if identity is None:
        raise StoreMissing(f"there is no memory in {memory.place}")
    return identity


async def every_point(
    memory: OperatorEngine, after: str | None = None, *, with_keys: bool = False
) -> AsyncIterator[Point]:
    """All rounds of a memory in the order of their ids, from the one after `after`."""
    while True:
        # The page is one longer than the source's, so that one call mostly reaches beyond that
        # page.
        page = await memory.browse(after, _PAGE + 1, with_keys=with_keys)
        for point in page:
            yield point
        if len(page) <= _PAGE:
            return
        after = page[-1].id


class _Digest:
    """A fingerprint that grows round by round."""

    def __init__(self) -> None:
        self._sum = hashlib.sha256()
        self._rounds = 0

    def add(self, id: str, content: bytes) -> bytes:
        digest = _digest(content)
        self.add_digest(id, digest)
        return digest

    def add_digest(self, id: str, digest: bytes) -> None:
        self._sum.update(id.encode() + digest)
        self._rounds += 1

    @property
    def fingerprint(self) -> RoundsSum:
        return RoundsSum(self._rounds, self._sum.hexdigest())


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
