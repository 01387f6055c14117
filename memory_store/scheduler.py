"""Long work is done a little at a time, so that short requests do not wait for long ones.

One event loop serves everybody. Work that grows with the input, or with the stored data, runs for a
slice of time and then waits for its turn: only one slice of all jobs runs each time the loop comes
round. Short jobs go first, the one that has used least before the others (least attained service);
long jobs take turns between users. Work that cannot be cut into slices, such as reading one long
text, runs in a thread beside the loop, one piece after the other, in the same order.

A `Job` is the work for one request. A task without an open job gets one of its own.
"""

import asyncio
import heapq
import math
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

SLICE = 0.005
"""The seconds of a slice: the longest wait for it each time that the loop comes round."""
# A job that has used at most this many seconds is short. While many are served, a short search uses
# three times as many seconds as alone.
_SHORT = 0.2
# After this many turns of short jobs in a row a long one gets a turn, so that none waits for ever.
_SHORT_IN_A_ROW = 8
# Seconds by which a user may be ahead of others who have had more.
_CREDIT = 0.1
# How many items are sorted in one step.
_RUN = 1000
# Reading this many characters takes so little time that a change of threads is not worth it.
_WORTH_A_THREAD = 2000
# Reading more characters than this takes longer than a tenth of a second.
_LIGHT = 10_000
# When there are more owners than this, those whose use no longer counts are forgotten.
_MOST_OWNERS = 1000
_seconds = time.perf_counter
_numbers = count()
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")


@dataclass(slots=True, eq=False)
class Job:
    """The work for one request: its owner, and how many seconds it has used."""

    owner: str = ""
    used: float = 0.0
    owed: float = 0.0
    """Used since its last turn."""
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def is_short(self) -> bool:
        """Whether it has used little time so far."""
        return self.used <= _SHORT

    def charge(self, seconds: float) -> None:
        """Count time that it has used."""
        self.used += seconds
        self.owed += seconds


_job: ContextVar[Job | None] = ContextVar("job", default=None)


def current_job() -> Job:
    """The job that this task works on."""
    job = _job.get()
    if job is None:
        job = Job()
        _job.set(job)
    return job


@contextmanager
def new_job(owner: str = "") -> Iterator[Job]:
    """Open a new job for the work inside, of this task and of tasks that it starts."""
    job = Job(owner)
    token = _job.set(job)
    try:
        yield job
    finally:
        _job.reset(token)


@contextmanager
def charged() -> Iterator[None]:
    """Charge the time of the work inside, which must not wait for anything, to the current job."""
    job, began = current_job(), _seconds()
    try:
        yield
    finally:
        job.charge(_seconds() - began)


async def pause() -> None:
    """Wait for a turn, if the current job has used up its slice."""
    job = current_job()
    if job.owed >= SLICE:
        await _turns().wait(job)


async def in_slices(items: Iterable[_Item]) -> AsyncIterator[_Item]:
    """The items, with pauses. The caller's work on each is charged, and must not wait."""
    job, began = current_job(), _seconds()
    for item in items:
        yield item
        now = _seconds()
        job.charge(now - began)
        if job.owed >= SLICE:
            await _turns().wait(job)
            now = _seconds()
        began = now


async def aside(
    size: int, function: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs
) -> _Result:
    """Call a function on input of this size, in characters or items, and return its result. Small
    work runs at once, with a pause behind it; larger work runs in a thread beside the loop. The
    function must not wait for anything."""
    if size <= _WORTH_A_THREAD:
        with charged():
            result = function(*given, **named)
        await pause()
        return result
    job, turns = current_job(), _turns()
    thread = turns.light if size <= _LIGHT else turns.heavy
    await thread.enter(job)
    began = _seconds()
    try:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(_THREADS, lambda: function(*given, **named))
    finally:
        job.used += _seconds() - began
        thread.leave(job, _seconds() - began)


def in_order(
    items: Sequence[_Item], key: Callable[[_Item], "SupportsRichComparison"]
) -> list[_Item]:
    """Like `sorted`, for work done aside: no single step is so long that the loop must wait."""
    runs = (items[start : start + _RUN] for start in range(0, len(items), _RUN))
    return list(heapq.merge(*(sorted(run, key=key) for run in runs), key=key))


# One of the two threads is for light work. More computing threads would slow down each other and
# the loop.
_THREADS = ThreadPoolExecutor(2, thread_name_prefix="long-work")


class Shares:
    """How much each of several owners has used of a thing that serves one at a time.

    This is fair queueing by virtual time (Demers, Keshav and Shenker 1989). An owner who comes back
    after a while counts as having used little less than those served now. So nobody can save up
    more than a credit, and nobody has to wait for use of long ago.
    """

    def __init__(self, credit: float) -> None:
        self._credit = credit
        self._had: dict[str, float] = {}
        self._now = 0.0

    def next_of(self, wanted: Mapping[str, float]) -> str:
        """The owner whose use, with the amount wanted next, would be least; of equals the first."""
        chosen = min(wanted, key=lambda owner: self._counted(owner) + wanted[owner])
        self._now = max(self._now, self._counted(chosen))
        return chosen

    def charge(self, owner: str, amount: float) -> None:
        """Add to the amount that an owner has used."""
        self._had[owner] = self._counted(owner) + amount
        if len(self._had) > _MOST_OWNERS:
            least = self._now - self._credit
            self._had = {one: had for one, had in self._had.items() if had > least}

    def _counted(self, owner: str) -> float:
        return max(self._had.get(owner, -math.inf), self._now - self._credit)


class _Queue:
    """The waiting jobs, and the choice of the next one."""

    def __init__(self) -> None:
        self._waiting: dict[Job, list[asyncio.Future[None]]] = {}
        self._shares = Shares(_CREDIT)
        self._short_in_a_row = 0

    def join(self, job: Job) -> "asyncio.Future[None]":
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(job, []).append(place)
        return place

    def charge(self, job: Job, seconds: float) -> None:
        self._shares.charge(job.owner, seconds)

    def call_next(self) -> bool:
        """Wake the next job. Return whether there was one."""
        while self._waiting:
            job = self._next()
            places = self._waiting[job]
            place = places.pop(0)
            if not places:
                del self._waiting[job]
            if not place.done():  # a cancelled task no longer waits
                place.set_result(None)
                return True
        return False

    def _next(self) -> Job:
        short = [job for job in self._waiting if job.is_short]
        if short and self._short_in_a_row < _SHORT_IN_A_ROW:
            self._short_in_a_row += 1
            return min(short, key=lambda job: (job.used, job.number))
        self._short_in_a_row = 0
        if (longest_in_line := next(iter(self._waiting))).is_short:
            return longest_in_line
        longest_waiting: dict[str, Job] = {}
        for job in self._waiting:
            if not job.is_short:
                longest_waiting.setdefault(job.owner, job)
        return longest_waiting[self._shares.next_of(dict.fromkeys(longest_waiting, 0.0))]


class _LoopTurns:
    """The turns of one event loop."""

    def __init__(self) -> None:
        self._line = _Queue()
        self._is_called = False
        self.light, self.heavy = _Thread(), _Thread()

    async def wait(self, job: Job) -> None:
        self._line.charge(job, job.owed)
        job.owed = 0.0
        place = self._line.join(job)
        self._call_soon()
        await place

    def _call_soon(self) -> None:
        if not self._is_called:
            self._is_called = True
            asyncio.get_running_loop().call_soon(self._call)

    def _call(self) -> None:
        """Wake one job; called once each time the loop comes round, after the slice before."""
        self._is_called = False
        if self._line.call_next():
            self._call_soon()


class _Thread:
    """Lets jobs into a thread beside the loop, one at a time."""

    def __init__(self) -> None:
        self._line = _Queue()
        self._is_taken = False

    async def enter(self, job: Job) -> None:
        if not self._is_taken:
            self._is_taken = True
            return
        place = self._line.join(job)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave(job, 0.0)
            raise

    def leave(self, job: Job, seconds: float) -> None:
        self._line.charge(job, seconds)
        self._is_taken = self._line.call_next()


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopTurns] = WeakKeyDictionary()


def _turns() -> _LoopTurns:
    loop = asyncio.get_running_loop()
    turns = _by_loop.get(loop)
    if turns is None:
        turns = _by_loop[loop] = _LoopTurns()
    return turns
