"""Two runs over the same questions: crossed verdicts with exact McNemar tests, and the sign-flip
test of differences that are more than yes or no. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

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
