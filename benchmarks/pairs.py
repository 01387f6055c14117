"""Two ways to do the same, in turns, so that whatever else the machine does falls on both."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Taken(NamedTuple):
    """What one doing took, in seconds."""

    clock: float
    processor: float
    """Of all threads."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Each doing of ours and the baseline's beside it."""

    ours: list[Taken] = field(default_factory=list)
    baseline: list[Taken] = field(default_factory=list)

    def ratio(self, of: str) -> float:
        """The median of how many times longer the baseline takes, by `clock` or `processor`."""
        return float(np.median(self._ratios(of)))

    def quartiles(self, of: str) -> tuple[float, float]:
        """Between these lie half of the pairs."""
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
    baseline: Callable[[int], Taken],
    times: int = 1,
) -> Pairs:
    """Ours and the baseline for each number, every other time the baseline first.

    `times` does ours so many times, as if it had become so much slower.
    """
    pairs = Pairs()
    for number in numbers:
        first = number % 2
        if first:
            pairs.baseline.append(baseline(number))
        clock, processor = time.perf_counter(), time.process_time()
        for _ in range(times):
            await ours(number)
        taken = Taken(time.perf_counter() - clock, time.process_time() - processor)
        pairs.ours.append(taken)
        if not first:
            pairs.baseline.append(baseline(number))
    return pairs


def timed(work: Callable[[int], object]) -> Callable[[int], Taken]:
    """A baseline of this process."""

    def done(number: int) -> Taken:
        clock, processor = time.perf_counter(), time.process_time()
        work(number)
        return Taken(time.perf_counter() - clock, time.process_time() - processor)

    return done
