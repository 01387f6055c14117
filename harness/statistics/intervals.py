"""Wilson's interval, and the share that a report shows with it. Pure functions."""

from math import sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

ALPHA = 0.05


class Interval(NamedTuple):
    """Bounds of a figure, at 95 % confidence."""

    low: float
    high: float


def wilson_interval(successes: int, n: int) -> Interval:
    """Wilson's interval for `successes` out of `n`; (0, 1) for n = 0.

    Every report has some: a library that has it takes longer to import than all the rest.
    """
    if n == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf(1 - ALPHA / 2)
    centre = (successes + z**2 / 2) / (n + z**2)
    half = z * sqrt(successes * (n - successes) / n + z**2 / 4) / (n + z**2)
    # Exactly, where rounding would fall short of it.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(low, high)


def proportion(successes: int, n: int) -> dict[str, Any]:
    """A share with its Wilson bounds and denominator; the value is None for n = 0."""
    low, high = wilson_interval(successes, n)
    return {"value": successes / n if n else None, "low": low, "high": high, "n": n}
