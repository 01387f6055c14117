"""Draws with replacement, as a bootstrap needs them: seeded, and quick where rows repeat.

Most figures of a question are yes or no, or one of a few shares. Then it suffices to draw how often
each of the few occurs, which is one binomial number for each.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from math import exp, lgamma, log, log1p
from operator import mul
from random import Random

RESAMPLES = 10_000
SEED = 0
# With more different rows than this, drawing row by row takes less time.
_FEW = 16

Row = tuple[float, ...]


def resampled(rows: Sequence[Row], *, seed: int = SEED) -> Iterator[Row]:
    """The sums of the columns of as many rows, drawn whole and with replacement; `RESAMPLES`
    times.
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
    """How often each kind occurs among as many draws as there are things; `sizes` says how many
    things are of each kind.
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
    """How likely n draws of probability p, which is neither 0 nor 1, have at most 0, 1, … hits."""
    ways = lgamma(n + 1)
    return list(
        accumulate(
            exp(ways - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))
            for k in range(n + 1)
        )
    )
