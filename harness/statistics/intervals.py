"""Wilson's interval, and the share that a report shows with it. Pure functions."""

from typing import Any, NamedTuple

ALPHA = 0.05


class Interval(NamedTuple):
    """Bounds of a figure, at 95 % confidence."""

    low: float
    high: float


def wilson_interval(successes: int, n: int) -> Interval:
    """Wilson's interval for `successes` out of `n`; (0, 1) for n = 0."""
    if n == 0:
        return Interval(0.0, 1.0)
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(successes, n, alpha=ALPHA, method="wilson")
    return Interval(float(low), float(high))


def proportion(successes: int, n: int) -> dict[str, Any]:
    """A share with its Wilson bounds and denominator; the value is None for n = 0."""
    low, high = wilson_interval(successes, n)
    return {"value": successes / n if n else None, "low": low, "high": high, "n": n}
