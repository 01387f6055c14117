"""How far two raters agree beyond chance: Cohen's kappa of yes-or-no ratings, and its interval.

Ratings of one question stand and fall with its reference, so that resampling draws questions, each
with all its ratings; the same seed gives the same bounds.
"""

from collections.abc import Hashable, Sequence
from itertools import combinations
from math import sqrt
from typing import TypedDict

from harness.statistics.intervals import (
    RESAMPLES,
    bootstrap_mean,
    percentile_interval,
    proportion,
    resampled,
)
from harness.statistics.paired_tests import Pairs


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two lists of ranks, -1 to 1, ties counted; None where one of them ranks
    nothing above anything else.

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


# More resamples than this without a kappa, and the others tell nothing of the whole.
_UNDEFINED = 0.05


class Bounded(TypedDict):
    """A figure and its bounds at 95 %; None where the data cannot tell."""

    value: float | None
    low: float | None
    high: float | None


class Agreement(TypedDict):
    """Two raters over `n` ratings of `questions` questions; what both, either or neither pass."""

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
    """The two raters' ratings in the same order, with the question that each is about.

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
    """Cohen's kappa; None where chance alone agrees on everything: both raters always say the same
    one thing, or there is nothing.
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
    """The percentile interval of kappa over resampled questions; None where that tells nothing."""
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
