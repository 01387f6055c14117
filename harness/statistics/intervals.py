"""How sure one figure is: Wilson's interval of a share, intervals by resampling, and the spread of
repeated runs.

Questions of one conversation tend to succeed and fail together. So resampling draws conversations,
each with all its questions. The same seed gives the same bounds.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from math import exp, lgamma, log, log1p, sqrt
from operator import mul
from random import Random
from statistics import NormalDist, fmean, quantiles, stdev
from typing import NamedTuple, TypedDict

RESAMPLES = 10_000
SEED = 0
# With more different rows than this, drawing row by row takes less time.
_FEW = 16

Row = tuple[float, ...]


def resampled(rows: Sequence[Row], *, seed: int = SEED) -> Iterator[Row]:
    """`RESAMPLES` resamples. Each draws as many whole rows as there are, with replacement, and
    yields the sums of their columns.
    """
    random = Random(seed)
    different = Counter(rows).most_common()
    if len(different) > _FEW:
        for _ in range(RESAMPLES):
            drawn = random.choices(rows, k=len(rows))
            yield tuple(map(sum, zip(*drawn, strict=True)))
        return
    columns = list(zip(*(row for row, _ in different), strict=True))
    for counts in _drawn_counts([size for _, size in different], random):
        yield tuple(sum(map(mul, column, counts)) for column in columns)


def _drawn_counts(sizes: Sequence[int], random: Random) -> Iterator[list[int]]:
    """How often each kind of row occurs in a resample of as many draws as there are rows; `sizes`
    has the number of rows of each kind.
    """
    table = cache(_binomial)
    for _ in range(RESAMPLES):
        draws = things = sum(sizes)
        counts = []
        for size in sizes[:-1]:
            count = bisect(table(draws, size / things), random.random(), 0, draws)
            counts.append(count)
            draws, things = draws - count, things - size
        yield [*counts, draws]


def _binomial(n: int, p: float) -> list[float]:
    """The probabilities of at most 0, 1, … n hits in n draws of probability p, 0 < p < 1."""
    ways = lgamma(n + 1)
    return list(
        accumulate(
            exp(ways - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))
            for k in range(n + 1)
        )
    )


ALPHA = 0.05


class Interval(NamedTuple):
    """Bounds of a figure, at 95 % confidence."""

    low: float
    high: float


class Share(TypedDict):
    """A share with its Wilson bounds and denominator; the value is None for n = 0."""

    value: float | None
    low: float
    high: float
    n: int


class Mean(TypedDict):
    """A mean over n; None for n = 0, or where it does not exist."""

    value: float | None
    n: int


class Repeats(TypedDict):
    """The spread of runs over the same questions."""

    runs: int
    accuracies: list[float | None]
    mean: float | None
    standard_deviation: float | None
    lowest: float | None
    highest: float | None
    flipped: Share


def mean_of(values: Iterable[float]) -> Mean:
    """The mean with its denominator."""
    known = list(values)
    return {"value": sum(known) / len(known) if known else None, "n": len(known)}


def wilson_interval(successes: int, n: int) -> Interval:
    """Wilson's interval for `successes` out of `n`; (0, 1) for n = 0."""
    if n == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf(1 - ALPHA / 2)
    centre = (successes + z**2 / 2) / (n + z**2)
    half = z * sqrt(successes * (n - successes) / n + z**2 / 4) / (n + z**2)
    # The exact bounds, which the formula would miss by a rounding error.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(low, high)


def proportion(successes: int, n: int) -> Share:
    """A share with its Wilson bounds and denominator; the value is None for n = 0."""
    low, high = wilson_interval(successes, n)
    return {"value": successes / n if n else None, "low": low, "high": high, "n": n}


# Below this, percentile intervals over clusters are known to be too narrow.
FEW_CLUSTERS = 20


def bootstrap_mean(
    values: Sequence[float], clusters: Sequence[Hashable] | None = None, *, seed: int = SEED
) -> Interval | None:
    """The percentile interval of the mean; values of the same cluster are drawn together.

    None where resampling can tell nothing: fewer than two clusters, or all with the same mean.
    """
    rows = _by_cluster(values, clusters if clusters is not None else range(len(values)))
    if len({total / size for total, size in rows}) < 2:
        return None
    return percentile_interval([total / size for total, size in resampled(rows, seed=seed)])


def percentile_interval(drawn: Sequence[float]) -> Interval:
    """The interval that holds all but a share of `ALPHA` of the resamples' figures."""
    cuts = quantiles(drawn, n=round(2 / ALPHA), method="inclusive")
    return Interval(cuts[0], cuts[-1])


def _by_cluster(values: Sequence[float], clusters: Sequence[Hashable]) -> list[tuple[float, int]]:
    found: dict[Hashable, tuple[float, int]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        total, size = found.get(cluster, (0.0, 0))
        found[cluster] = (total + value, size + 1)
    return list(found.values())


def repeats_table(outcomes: Sequence[Sequence[bool]]) -> Repeats:
    """Mean, spread and flips of two or more runs over the same questions in the same order.

    `flipped` is the share of questions that are not right in all or wrong in all runs; the standard
    deviation is over runs.
    """
    accuracies = [fmean(run) if run else None for run in outcomes]
    known = [value for value in accuracies if value is not None]
    questions = list(zip(*outcomes, strict=True))
    flipped = sum(len(set(question)) > 1 for question in questions)
    return {
        "runs": len(outcomes),
        "accuracies": accuracies,
        "mean": fmean(known) if known else None,
        "standard_deviation": stdev(known) if len(known) > 1 else None,
        "lowest": min(known, default=None),
        "highest": max(known, default=None),
        "flipped": proportion(flipped, len(questions)),
    }
