"""Two runs over the same questions: how sure their difference is.

Crossed verdicts with exact McNemar tests, the sign-flip test of differences that are more than yes
or no, p-values that hold for several tests together, and what it takes to see a difference: the
difference of two shares over the same questions has the variance `discordance - difference²` a
question; sizes and effects are those of a z-test of that mean, two-sided at 5 %, with 80 % power.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from harness.statistics.intervals import ALPHA

RESAMPLES = 10_000
SEED = 0


@dataclass(frozen=True, slots=True)
class Pairs:
    """How many questions both get right, only one of them, or neither."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @classmethod
    def of(cls, first: Sequence[bool], second: Sequence[bool]) -> Self:
        """Count the outcomes of the same questions in the same order."""
        crossed = list(zip(first, second, strict=True))
        return cls(
            both=crossed.count((True, True)),
            only_first=crossed.count((True, False)),
            only_second=crossed.count((False, True)),
            neither=crossed.count((False, False)),
        )

    @property
    def n(self) -> int:
        """All pairs."""
        return self.both + self.neither + self.discordant

    @property
    def discordant(self) -> int:
        """The pairs that differ."""
        return self.only_first + self.only_second

    @property
    def difference(self) -> float | None:
        """The second run's share of right answers less the first's; None without pairs."""
        return (self.only_second - self.only_first) / self.n if self.n else None


def exact_mcnemar(pairs: Pairs) -> float:
    """Two-sided p-value of the exact McNemar test; 1 where no pair differs."""
    if pairs.discordant == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(pairs.only_first, pairs.discordant, 0.5).pvalue)


def mcnemar_worse(pairs: Pairs) -> float:
    """One-sided p-value of the exact McNemar test for the second run being worse than the first."""
    if pairs.discordant == 0:
        return 1.0
    from scipy.stats import binomtest

    tested = binomtest(pairs.only_first, pairs.discordant, 0.5, alternative="greater")
    return float(tested.pvalue)


def unpaired_worse(first: tuple[int, int], second: tuple[int, int]) -> float:
    """One-sided p-value of Fisher's exact test for the second share being lower, from (right, n).

    For figures whose single questions are not known any more: it sees less than a paired test.
    """
    from scipy.stats import fisher_exact

    table = [[right, n - right] for right, n in (first, second)]
    return float(fisher_exact(table, alternative="greater").pvalue)


def signs_worse(differences: Sequence[float], *, seed: int = SEED) -> float:
    """One-sided p-value for these differences, second less first, being negative on average.

    Exact where there are few that are not zero, else over so many seeded draws; 1 where all are
    zero.
    """
    changed = [difference for difference in differences if difference]
    if len(changed) < 2:
        return 0.5 if changed and changed[0] < 0 else 1.0
    import numpy as np
    from scipy.stats import permutation_test

    def mean(values: Any, axis: int) -> Any:
        return np.mean(values, axis=axis)

    tested = permutation_test(
        (np.array(changed),),
        mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        alternative="less",
        rng=np.random.default_rng(seed),
    )
    return float(tested.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        # Never below that of a smaller p-value.
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


POWER = 0.8


def questions_needed(difference: float, discordance: float) -> int | None:
    """How many questions it takes to see `difference`; None where it is impossible or unknown.

    Impossible: two runs that differ on a smaller share of questions than `difference`.
    """
    if not 0 < difference < discordance:
        return None
    effect = difference / math.sqrt(discordance - difference**2)
    return math.ceil((_seen() / effect) ** 2)


def smallest_difference(n: int, discordance: float) -> float | None:
    """The smallest difference that `n` questions can be expected to show; None where unknown."""
    if n < 2 or discordance <= 0:
        return None
    effect = _seen() / math.sqrt(n)
    difference = effect * math.sqrt(discordance / (1 + effect**2))
    return difference if difference < discordance else None


def _seen() -> float:
    """How many standard errors from zero a mean must lie to be seen with this power."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    critical = norm.isf(ALPHA / 2)

    def missing(distance: float) -> float:
        return float(norm.sf(critical - distance) + norm.cdf(-critical - distance) - POWER)

    return float(brentq(missing, 0.0, 2 * critical))
