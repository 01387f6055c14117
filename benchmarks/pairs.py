"""Measures two ways to do the same in turns, so that other work on the machine affects both."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class WorkTime(NamedTuple):
    """The seconds that one execution took."""

    clock: float
    processor: float
    """Processor seconds of all threads."""


@dataclass(frozen=True, slots=True)
class PairedTimes:
    """The times of our executions, and of the baseline's in the same order."""

    ours: list[WorkTime]
    baseline: list[WorkTime]

    def ratio(self, of: str) -> float:
        """The median of the baseline's times divided by ours, by `clock` or `processor`."""
        return float(np.median(self._ratios(of)))

    def quartiles(self, of: str) -> tuple[float, float]:
        """The quartiles of the ratios: half of the pairs lie between them."""
        low, high = np.percentile(self._ratios(of), [25, 75])
        return float(low), float(high)

    def _ratios(self, of: str) -> list[float]:
        return [
            getattr(baseline, of) / getattr(ours, of)
            for ours, baseline in zip(self.ours, self.baseline, strict=True)
        ]


async def in_turns(
    numbers: Sequence[int],
    ours: Callable[[int], Awaitable[object]],
    baseline: Callable[[int], WorkTime],
    *,
    passes: int = 1,
    times: int = 1,
    processor: Callable[[], float] = time.process_time,
) -> PairedTimes:
    """Run ours and the baseline for each number; at every other number the baseline comes first.

    Of several passes the least time counts for each number, which a busy machine disturbs least.
    `times` runs ours this many times, as if it were slower by this factor. `processor` returns the
    processor time that ours has used so far.
    """

    async def our_turn(number: int) -> WorkTime:
        clock, used = time.perf_counter(), processor()
        for _ in range(times):
            await ours(number)
        return WorkTime(time.perf_counter() - clock, processor() - used)

    least: dict[int, tuple[WorkTime, WorkTime]] = {}
    for number in list(numbers) * passes:
        if number % 2:
            theirs, mine = baseline(number), await our_turn(number)
        else:
            mine, theirs = await our_turn(number), baseline(number)
        before = least.get(number, (mine, theirs))
        least[number] = (_least(before[0], mine), _least(before[1], theirs))
    return PairedTimes(
        [mine for mine, _ in least.values()], [theirs for _, theirs in least.values()]
    )


def _least(one: WorkTime, other: WorkTime) -> WorkTime:
    return WorkTime(min(one.clock, other.clock), min(one.processor, other.processor))


def timed(work: Callable[[int], object]) -> Callable[[int], WorkTime]:
    """Make a baseline of work in this process."""

    def done(number: int) -> WorkTime:
        clock, processor = time.perf_counter(), time.process_time()
        work(number)
        return WorkTime(time.perf_counter() - clock, time.process_time() - processor)

    return done
