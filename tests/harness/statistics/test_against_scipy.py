"""Every figure of the harness's own statistics beside scipy's, over tables made at random.

What is computed exactly is equal but for rounding. What is drawn has other draws here than there:
its bounds agree within what 10,000 draws leave open.
"""

import math
from collections import Counter
from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import (
    binom,
    binomtest,
    bootstrap,
    fisher_exact,
    kendalltau,
    kstest,
    multinomial,
    norm,
    permutation_test,
)
from seeds import seeds

from harness.statistics.intervals import RESAMPLES, bootstrap_mean, percentile_interval, resampled
from harness.statistics.paired_tests import (
    Pairs,
    exact_mcnemar,
    kappa_bounds,
    kendall_tau_b,
    mcnemar_worse,
    signs_worse,
    smallest_difference,
    unpaired_worse,
)

# Two quantiles of 10,000 draws each differ by more than this share of their spread once in some
# thousand times; the seeds are fixed.
SPREAD = 0.13


@pytest.mark.parametrize("n", [*range(1, 30), 97, 500, 1999])
def test_mcnemar(n: int) -> None:
    for lost in {0, 1, n // 3, n // 2, n - 1, n}:
        pairs = Pairs(3, lost, n - lost, 2)
        two = binomtest(lost, n, 0.5).pvalue
        one = binomtest(lost, n, 0.5, alternative="greater").pvalue
        assert exact_mcnemar(pairs) == pytest.approx(two, rel=1e-9)
        assert mcnemar_worse(pairs) == pytest.approx(one, rel=1e-9)


@pytest.mark.parametrize("seed", seeds(20, 60))
def test_fisher(seed: int) -> None:
    random = Random(seed)
    first, second = ((random.randint(0, n), n) for n in (random.randint(0, 700) for _ in "ab"))
    table = [[right, n - right] for right, n in (first, second)]
    theirs = fisher_exact(table, alternative="greater").pvalue
    assert unpaired_worse(first, second) == pytest.approx(theirs, rel=1e-7)


def differences(seed: int, n: int) -> list[float]:
    """Of yes-or-no figures, of shares, and of anything, by turns."""
    random = Random(seed)
    kinds = ([-1.0, 0, 0, 1], [-1.0, -2 / 3, -0.5, -0.25, 0, 0, 0.2, 1 / 3, 0.5, 1], None)
    kind = kinds[seed % len(kinds)]
    return [random.choice(kind) if kind else random.gauss(-0.05, 0.3) for _ in range(n)]


def scipys_signs(changed: list[float]) -> float:
    def mean(values: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(values, axis=axis)

    options = {"permutation_type": "samples", "n_resamples": RESAMPLES, "alternative": "less"}
    return float(permutation_test((np.array(changed),), mean, rng=1, **options).pvalue)


@pytest.mark.parametrize("seed", seeds(12, 24))
def test_signs_of_few_differences_are_tried_out(seed: int) -> None:
    changed = [one for one in differences(seed, 4 + seed // 3) if one]
    if len(changed) > 1:
        assert signs_worse(changed) == pytest.approx(scipys_signs(changed), abs=1e-12)


@pytest.mark.parametrize("seed", seeds(3, 12))
def test_signs_of_many_differences_are_drawn(seed: int) -> None:
    changed = [one for one in differences(seed, 40 + 10 * seed) if one]
    ours, theirs = signs_worse(changed), scipys_signs(changed)
    error = (2 * theirs * (1 - theirs) / RESAMPLES) ** 0.5
    assert ours == pytest.approx(theirs, abs=4 * error + 2 / RESAMPLES)


@pytest.mark.parametrize(("one", "p"), [(-0.3, 0.5), (0.3, 1.0)])
def test_the_sign_of_one_difference(one: float, p: float) -> None:
    assert signs_worse([one, 0.0]) == p
    assert signs_worse([0.0]) == 1


def test_how_far_a_mean_must_lie_to_be_seen() -> None:
    critical = norm.isf(0.025)

    def missing(distance: float) -> float:
        return float(norm.sf(critical - distance) + norm.cdf(-critical - distance) - 0.8)

    questions = 10_000
    difference = smallest_difference(questions, 1.0)
    assert difference
    seen = difference / math.sqrt(1 - difference**2) * math.sqrt(questions)
    assert seen == pytest.approx(brentq(missing, 0, 2 * critical), rel=1e-10)


def test_an_interval_is_numpys_quantiles() -> None:
    random = Random(5)
    drawn = [random.gauss(0, 1) for _ in range(RESAMPLES - 137)]
    assert percentile_interval(drawn) == pytest.approx(np.quantile(drawn, [0.025, 0.975]))


def scipys_bootstrap(first: list[Any], second: list[Any], figure: Callable[..., Any]) -> Any:
    """Of a figure of two rows that belong together."""
    return bootstrap(
        (np.array(first), np.array(second)),
        figure,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=1000,
        method="percentile",
        rng=1,
    )


def scipys_mean(values: list[float], clusters: list[int]) -> tuple[np.ndarray, float, float]:
    """Its draws, and its bounds."""
    names = sorted(set(clusters))
    sums = [sum(v for v, c in zip(values, clusters, strict=True) if c == name) for name in names]
    sizes = [clusters.count(name) for name in names]

    def mean(totals: np.ndarray, counts: np.ndarray, axis: int) -> np.ndarray:
        return np.sum(totals, axis=axis) / np.sum(counts, axis=axis)

    found = scipys_bootstrap(sums, sizes, mean)
    bounds = found.confidence_interval
    return found.bootstrap_distribution, float(bounds.low), float(bounds.high)


@pytest.mark.parametrize("seed", seeds(6, 18))
@pytest.mark.parametrize("per_cluster", [1, 7])
def test_a_bootstrap_of_the_mean(seed: int, per_cluster: int) -> None:
    values = differences(seed, 30 + 25 * seed)
    clusters = [number // per_cluster for number in range(len(values))]
    drawn, low, high = scipys_mean(values, clusters)
    tolerance = SPREAD * float(np.std(drawn))
    # A mean of few values moves in steps.
    step = 1 / len(values) if seed % 3 == 0 else 0
    assert bootstrap_mean(values, clusters) == pytest.approx((low, high), abs=tolerance + step)


def test_a_bootstrap_of_few_rows_and_of_many_draw_alike() -> None:
    """Every way to draw three rows of three, by counting and by drawing row by row."""
    rows = [(0.0, 1.0), (1.0, 1.0), (1.0, 1.0)]
    few = Counter(total for total, _ in resampled(rows))
    expected = Counter(sum(row[0] for row in drawn) for drawn in product(rows, repeat=3))
    for total, ways in expected.items():
        share = ways / 27
        error = (share * (1 - share) / RESAMPLES) ** 0.5
        assert few[total] / RESAMPLES == pytest.approx(share, abs=4 * error)
    random = Random(2)
    many = [(random.gauss(0, 1), 1.0) for _ in range(200)]
    drawn, _, _ = scipys_mean([one for one, _ in many], list(range(200)))
    assert kstest([total / n for total, n in resampled(many)], drawn).pvalue > 0.001


@pytest.mark.parametrize("sizes", [(1, 1), (5, 2, 2, 1), (300, 120, 79, 1), (1000, 999)])
def test_counts_of_drawn_rows_are_multinomial(sizes: tuple[int, ...]) -> None:
    rows = [
        tuple(float(k == i) for k in range(len(sizes)))
        for i, n in enumerate(sizes)
        for _ in range(n)
    ]
    n = sum(sizes)
    drawn = np.array(list(resampled(rows)))
    assert (drawn.sum(axis=1) == n).all()
    shares = np.array(sizes) / n
    for column, p in zip(drawn.T, shares, strict=True):
        error = float(binom.std(n, p)) / RESAMPLES**0.5
        assert column.mean() == pytest.approx(n * p, abs=4 * error)
    theirs = multinomial(n, shares).cov()
    assert np.cov(drawn.T) == pytest.approx(theirs, abs=0.06 * float(theirs.max()))


@pytest.mark.parametrize("seed", seeds(2, 6))
def test_bounds_of_kappa(seed: int) -> None:
    random = Random(seed)
    first = [random.random() < 0.6 for _ in range(60 + 50 * seed)]
    second = [one if random.random() < 0.85 else not one for one in first]

    def kappa(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        p, q, same = (np.mean(x, axis=axis) for x in (a, b, a == b))
        by_chance = p * q + (1 - p) * (1 - q)
        return (same - by_chance) / (1 - by_chance)

    theirs = scipys_bootstrap(first, second, kappa)
    bounds = theirs.confidence_interval
    found = kappa_bounds(first, second, range(len(first)))
    assert found == pytest.approx(
        (bounds.low, bounds.high), abs=SPREAD * float(theirs.standard_error)
    )


def test_kendall_counts_ties_as_scipy_does() -> None:
    draw = Random(11)
    for _ in range(200):
        n = draw.randint(2, 9)
        first, second = ([draw.randint(1, 5) for _ in range(n)] for _ in range(2))
        theirs = kendalltau(first, second, variant="b").statistic
        ours = kendall_tau_b(first, second)
        assert ours is None if np.isnan(theirs) else ours == pytest.approx(theirs)
    assert kendall_tau_b([1], [1]) is None
