"""Filling a target until it holds what its source holds, as counts and a checksum show.

A pass walks both in the order of the ids, page by page, compares them, and writes only rounds that
are missing or different. So a pass over a complete target proves that it is complete, and a pass
after a crash resumes the work: no other state than the rounds themselves is recorded.
"""

import hashlib
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from memory_store._identity import run_of
from memory_store.engines._engine import Payload, Point, UserScope
from memory_store.engines._operator import OperatorEngine
from memory_store.errors import StoreMissing, TransferUnfinished
from memory_store.scheduler import in_slices


class Progress(Protocol):
    """Is told of each step of a transfer and of the rounds that are done."""

    def begin(self, step: str, rounds: int) -> None:
        """A step over this many rounds begins."""

    def advance(self, rounds: int) -> None:
        """This many more rounds are done."""


ChangedIds = Mapping[str, Collection[str] | None]
"""Ids of changed rounds by user; None if any of the user's rounds may have changed."""
_PAGE = 128
_MOST_PASSES = 6
# How many rounds are converted and written in one go.
_WRITTEN_AT_ONCE = 32
_NO_KEYS = np.zeros((0, 0), dtype=np.float32)


async def _no_matter(points: Sequence[Point]) -> None:
    """Do nothing when points leave the target."""


@dataclass(frozen=True, slots=True)
class RoundsSum:
    """A number of rounds, and SHA-256 over their content in the order of their ids."""

    rounds: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass found and did. Both sums are of the rounds as the pass has read them."""

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
    """Makes a target hold what a source holds.

    `content` gives the part of a point that must be equal in both, `converted` makes the target's
    points from the source's. `leaving` is told of points of the target that are about to be removed
    or written over. The filling may only go on while the target's identity names this `run`.
    """

    source: OperatorEngine
    target: OperatorEngine
    run: str
    with_keys: bool
    content: Callable[[Point], bytes]
    converted: Callable[[Sequence[Point]], Awaitable[Sequence[Point]]]
    leaving: Callable[[Sequence[Point]], Awaitable[None]] = _no_matter

    async def until_equal(self, progress: Progress, first_step: str) -> list[Pass]:
        """Do passes until one finds nothing to do. Raises `TransferUnfinished` after too many."""
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
        """Do one pass over all rounds."""
        progress.begin(step, await self.source.total())
        ours, theirs = _Digest(), _Digest()
        kept = written = removed = 0
        after: str | None = None
        while True:
            page = await self.source.browse(after, _PAGE, with_keys=self.with_keys)
            last = page[-1].id if len(page) == _PAGE else None
            there = await self._held(after, last)
            found = await self._compared(page, there)
            ours.add(found.source)
            theirs.add(found.target)
            await self._write(there, found)
            kept += len(page) - len(found.wrong)
            written += len(found.wrong)
            removed += len(found.gone)
            progress.advance(len(page))
            if last is None:
                return Pass(kept, written, removed, ours.fingerprint, theirs.fingerprint)
            after = last

    async def some(self, changed: ChangedIds) -> None:
        """Make the target hold the same as the source for these rounds only."""
        for scope in _scopes(changed):
            page = await _points_in(self.source, scope)
            there = {point.id: point for point in await _points_in(self.target, scope)}
            await self._write(there, await self._compared(page, there))

    async def _held(self, after: str | None, last: str | None) -> dict[str, Point]:
        """The target's rounds after the id `after` up to the id `last`, or to the end."""
        held: dict[str, Point] = {}
        async for point in every_point(self.target, after, with_keys=self.with_keys):
            if last is not None and point.id > last:
                break
            held[point.id] = point
        return held

    async def _compared(self, page: Sequence[Point], there: Mapping[str, Point]) -> "_Compared":
        """Compare rounds of the source with those that the target has in their place."""
        source = {point.id: _digest(self.content(point)) async for point in in_slices(page)}
        held = {id: _digest(self.content(there[id])) async for id in in_slices(sorted(there))}
        wrong = [point for point in page if held.get(point.id) != source[point.id]]
        return _Compared(source, held, wrong, sorted(held.keys() - source.keys()))

    async def _write(self, there: Mapping[str, Point], found: "_Compared") -> None:
        if not found.wrong and not found.gone:
            return
        replaced = [there[point.id] for point in found.wrong if point.id in there]
        leaving = [*replaced, *(there[id] for id in found.gone)]
        if leaving:
            await self._check_run()
            await self.leaving(leaving)
        for start in range(0, len(found.wrong), _WRITTEN_AT_ONCE):
            points = await self.converted(found.wrong[start : start + _WRITTEN_AT_ONCE])
            await self._check_run()
            await self.target.upsert(points, erasing=bool(replaced))
        await self.target.remove(found.gone)

    async def _check_run(self) -> None:
        if run_of(await self.target.identity() or {}) != self.run:
            raise TransferUnfinished(
                f"another command is writing to {self.target.place}: wait for it to finish"
            )


async def open_there(memory: OperatorEngine) -> Payload:
    """Open an existing memory and return its identity. Raises `StoreMissing`."""
    identity = await memory.open_existing()
    if identity is None:
        raise StoreMissing(f"there is no memory in {memory.place}")
    return identity


async def every_point(
    memory: OperatorEngine, after: str | None = None, *, with_keys: bool = False
) -> AsyncIterator[Point]:
    """All rounds of a memory in the order of their ids, from the one after `after`."""
    while True:
        # One more than the source's page, so that one call mostly reaches beyond that page.
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

    def add(self, digests: Mapping[str, bytes]) -> None:
        for id, digest in digests.items():
            self._sum.update(id.encode() + digest)
        self._rounds += len(digests)

    @property
    def fingerprint(self) -> RoundsSum:
        return RoundsSum(self._rounds, self._sum.hexdigest())


class _Compared(NamedTuple):
    """The digests of rounds in the source and in the target, in the order of the ids; the source's
    points that are missing or different in the target (`wrong`); and the ids that the target has
    and should not have (`gone`)."""

    source: Mapping[str, bytes]
    target: Mapping[str, bytes]
    wrong: Sequence[Point]
    gone: Sequence[str]


def _scopes(changed: ChangedIds) -> Iterator[UserScope]:
    """Scopes for these rounds: a page of ids each, or all rounds of a user."""
    for user_id, ids in changed.items():
        if ids is None:
            yield UserScope(user_id)
            continue
        ordered = sorted(ids)
        for start in range(0, len(ordered), _PAGE):
            yield UserScope(user_id, ids=tuple(ordered[start : start + _PAGE]))


async def _points_in(memory: OperatorEngine, scope: UserScope) -> list[Point]:
    """The points in a scope, in the order of their ids, without keys and words."""
    found = sorted(await memory.scroll(scope), key=lambda point: point.id)
    return [Point(point.id, _NO_KEYS, {}, point.payload) for point in found]


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
