"""Two runs over the same questions: how sure their difference is.

Crossed verdicts with exact McNemar tests, the sign-flip test of differences that are more than yes
or no, p-values that hold for several tests together, and what it takes to see a difference: the
difference of two shares over the same questions has the variance `discordance - difference²` a
question; sizes and effects are those of a z-test of that mean, two-sided at 5 %, with 80 % power.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import NormalDist
from typing import Self

from harness.statistics.intervals import ALPHA, RESAMPLES, SEED


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
    return min(1.0, 2 * _at_most(min(pairs.only_first, pairs.only_second), pairs.discordant))


def mcnemar_worse(pairs: Pairs) -> float:
    """One-sided p-value of the exact McNemar test for the second run being worse than the first."""
    return _at_most(pairs.only_second, pairs.discordant)


def _at_most(heads: int, tosses: int) -> float:
    """How likely so many tosses of a coin show at most so many heads: exact, in whole numbers."""
    return sum(math.comb(tosses, number) for number in range(heads + 1)) / (1 << tosses)


def unpaired_worse(first: tuple[int, int], second: tuple[int, int]) -> float:
    """One-sided p-value of Fisher's exact test for the second share being lower, from (right, n).

    For figures whose single questions are not known any more: it sees less than a paired test.
    """
    (right, n), (other_right, other_n) = first, second
    all_right = right + other_right
    as_far = sum(
        math.comb(n, number) * math.comb(other_n, all_right - number)
        for number in range(right, min(n, all_right) + 1)
    )
    return as_far / math.comb(n + other_n, all_right)


# Sums of the same numbers in another order may differ by so much of them.
_ROUNDING = 1e-12
# A byte of a draw tells the signs of so many differences.
_BLOCK = 8


def signs_worse(differences: Sequence[float], *, seed: int = SEED) -> float:
    """One-sided p-value for these differences, second less first, being negative on average.

    Exact where there are few that are not zero, else over so many seeded draws, the given signs
    counted as one more; 1 where all are zero.
    """
    changed = [difference for difference in differences if difference]
    if not changed:
        return 1.0
    limit = sum(changed) + _ROUNDING * sum(map(abs, changed))
    if 2 ** len(changed) <= RESAMPLES:
        sums = _signed_sums(changed)
        return sum(one <= limit for one in sums) / len(sums)
    drawn = _drawn_sums(changed, seed)
    return (sum(one <= limit for one in drawn) + 1) / (RESAMPLES + 1)


def _drawn_sums(numbers: Sequence[float], seed: int) -> Iterator[float]:
    padded = [*numbers, *[0.0] * (-len(numbers) % _BLOCK)]
    tables = [_signed_sums(padded[i : i + _BLOCK]) for i in range(0, len(padded), _BLOCK)]
    random = Random(seed)
    for _ in range(RESAMPLES):
        signs = random.randbytes(len(tables))
        yield sum(table[byte] for table, byte in zip(tables, signs, strict=True))


def _signed_sums(numbers: Iterable[float]) -> list[float]:
    """The sums with every choice of signs."""
    sums = [0.0]
    for number in numbers:
        sums = [total + signed for signed in (number, -number) for total in sums]
    return sums


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


@cache
def _seen() -> float:
    """How many standard errors from zero a mean must lie to be seen with this power."""
    normal = NormalDist()
    critical = normal.inv_cdf(1 - ALPHA / 2)
    low, high = 0.0, 2 * critical
    while low < (middle := (low + high) / 2) < high:
        power = normal.cdf(middle - critical) + normal.cdf(-middle - critical)
        low, high = (middle, high) if power < POWER else (low, middle)
    return high
