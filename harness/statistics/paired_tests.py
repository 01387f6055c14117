"""Two runs, or two raters, over the same questions: how sure their difference is, and how far they
agree beyond chance.

For two runs: crossed verdicts with exact McNemar tests, the sign-flip test for differences that are
more than yes or no, p-values corrected for several tests, and power. The difference of two shares
over the same questions has the variance `discordance - difference²` a question. Sizes and effects
are those of a z-test of that mean, two-sided at 5 %, with 80 % power.

For two raters: Cohen's kappa of yes-or-no ratings with its interval. Ratings of one question depend
on its reference, so resampling draws questions, each with all its ratings. The same seed gives the
same bounds.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import sqrt
from random import Random
from statistics import NormalDist
from typing import Self, TypedDict

from harness.statistics.intervals import (
    ALPHA,
    RESAMPLES,
    SEED,
    bootstrap_mean,
    percentile_interval,
    proportion,
    resampled,
)


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
        return self.both + self.neither + self.discordant

    @property
    def discordant(self) -> int:
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
    """The probability of at most `heads` heads in `tosses` tosses of a coin, from exact counts."""
    return sum(math.comb(tosses, number) for number in range(heads + 1)) / (1 << tosses)


def unpaired_worse(first: tuple[int, int], second: tuple[int, int]) -> float:
    """One-sided p-value of Fisher's exact test for the second share being lower, from (right, n).

    It is for figures whose single questions are not known any more; it detects less than a paired
    test.
    """
    (right, n), (other_right, other_n) = first, second
    all_right = right + other_right
    as_far = sum(
        math.comb(n, number) * math.comb(other_n, all_right - number)
        for number in range(right, min(n, all_right) + 1)
    )
    return as_far / math.comb(n + other_n, all_right)


# Sums of the same numbers in another order may differ by this share of their absolute sum.
_ROUNDING = 1e-12
# A random byte holds the signs of this many differences.
_BLOCK = 8


def signs_worse(differences: Sequence[float], *, seed: int = SEED) -> float:
    """One-sided p-value for these differences, second less first, being negative on average.

    The p-value is exact where few differences are not zero. Otherwise it comes from `RESAMPLES`
    seeded draws of signs, with the given signs counted as one more. It is 1 where all are zero.
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
    sums = [0.0]
    for number in numbers:
        sums = [total + signed for signed in (number, -number) for total in sums]
    return sums


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        # An adjusted p-value is never below that of a smaller p-value.
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
    """The distance of a mean from zero, in standard errors, at which the test has this power."""
    normal = NormalDist()
    critical = normal.inv_cdf(1 - ALPHA / 2)
    low, high = 0.0, 2 * critical
    while low < (middle := (low + high) / 2) < high:
        power = normal.cdf(middle - critical) + normal.cdf(-middle - critical)
        low, high = (middle, high) if power < POWER else (low, middle)
    return high


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two lists of ranks, from -1 to 1, with ties; None where one list has the
    same rank throughout.

    M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945).
    """
    agreeing = ranked_first = ranked_second = 0
    for (a, x), (b, y) in combinations(zip(first, second, strict=True), 2):
        one, other = _sign(a - b), _sign(x - y)
        agreeing += one * other
        ranked_first += one * one
        ranked_second += other * other
    if not ranked_first or not ranked_second:
        return None
    return agreeing / sqrt(ranked_first * ranked_second)


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)


# If a larger share of resamples has no kappa, the others do not represent the whole.
_UNDEFINED = 0.05


class Bounded(TypedDict):
    """A figure and its bounds at 95 %; None where the data cannot tell."""

    value: float | None
    low: float | None
    high: float | None


class Agreement(TypedDict):
    """Two raters' agreement over `n` ratings of `questions` questions, and how many ratings both,
    only one, or neither of them passes."""

    n: int
    questions: int
    agreement: Bounded
    kappa: Bounded
    both: int
    only_first: int
    only_second: int
    neither: int


def agreement_of(
    first: Sequence[bool], second: Sequence[bool], questions: Sequence[Hashable]
) -> Agreement:
    """The agreement of two raters. All three lists have the same order: a rating of each rater, and
    the question that they are about.

    Bounds of the agreement are Wilson's where every rating has a question of its own.
    """
    pairs = Pairs.of(first, second)
    low, high = kappa_bounds(first, second, questions) or (None, None)
    return {
        "n": pairs.n,
        "questions": len(set(questions)),
        "agreement": _share(first, second, questions),
        "kappa": {"value": kappa(pairs), "low": low, "high": high},
        "both": pairs.both,
        "only_first": pairs.only_first,
        "only_second": pairs.only_second,
        "neither": pairs.neither,
    }


def kappa(pairs: Pairs) -> float | None:
    """Cohen's kappa; None where it is undefined: there are no ratings, or both raters give the same
    rating to everything.
    """
    return _kappa(pairs.both, pairs.only_first, pairs.only_second, pairs.neither)


def _kappa(both: float, only_first: float, only_second: float, neither: float) -> float | None:
    n = both + only_first + only_second + neither
    if not n:
        return None
    observed = (both + neither) / n
    first, second = (both + only_first) / n, (both + only_second) / n
    by_chance = first * second + (1 - first) * (1 - second)
    return None if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


def kappa_bounds(
    first: Sequence[bool], second: Sequence[bool], questions: Sequence[Hashable]
) -> tuple[float, float] | None:
    """The percentile interval of kappa over resampled questions; None where they do not vary enough
    or too many resamples have no kappa."""
    counts = _by_question(first, second, questions)
    if len(set(counts)) < 2:
        return None
    drawn = (_kappa(*crossed) for crossed in resampled(counts))
    known = [value for value in drawn if value is not None]
    if len(known) < (1 - _UNDEFINED) * RESAMPLES:
        return None
    return percentile_interval(known)


def _share(first: Sequence[bool], second: Sequence[bool], questions: Sequence[Hashable]) -> Bounded:
    agreed = [a == b for a, b in zip(first, second, strict=True)]
    share = proportion(sum(agreed), len(agreed))
    if len(set(questions)) == len(questions):
        return {"value": share["value"], "low": share["low"], "high": share["high"]}
    low, high = bootstrap_mean(agreed, questions) or (None, None)
    return {"value": share["value"], "low": low, "high": high}


def _by_question(
    first: Sequence[bool], second: Sequence[bool], questions: Sequence[Hashable]
) -> list[tuple[int, int, int, int]]:
    rated: dict[Hashable, tuple[list[bool], list[bool]]] = {}
    for a, b, question in zip(first, second, questions, strict=True):
        ours, theirs = rated.setdefault(question, ([], []))
        ours.append(a)
        theirs.append(b)
    crossed = [Pairs.of(ours, theirs) for ours, theirs in rated.values()]
    return [(p.both, p.only_first, p.only_second, p.neither) for p in crossed]
