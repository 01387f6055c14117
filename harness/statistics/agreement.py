"""How far two raters agree beyond chance: Cohen's kappa of yes-or-no ratings, and its interval.

Ratings of one question stand and fall with its reference, so that resampling draws questions, each
with all its ratings; the same seed gives the same bounds.
"""

from collections.abc import Hashable, Sequence
from typing import Any, TypedDict

from harness.statistics.intervals import ALPHA, bootstrap_mean, proportion, resampled
from harness.statistics.paired_tests import Pairs

# More resamples than this without a kappa, and the others tell nothing of the whole.
_UNDEFINED = 0.05
# Stands for such a one: a kappa is never above 1.
_NO_KAPPA = 2.0


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
    if not pairs.n:
        return None
    observed = (pairs.both + pairs.neither) / pairs.n
    first = (pairs.both + pairs.only_first) / pairs.n
    second = (pairs.both + pairs.only_second) / pairs.n
    by_chance = first * second + (1 - first) * (1 - second)
    return None if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


def kappa_bounds(
    first: Sequence[bool], second: Sequence[bool], questions: Sequence[Hashable]
) -> tuple[float, float] | None:
    """The percentile interval of kappa over resampled questions; None where that tells nothing."""
    import numpy as np

    counts = _by_question(first, second, questions)
    if len(set(counts)) < 2:
        return None

    def statistic(both: Any, one: Any, other: Any, none: Any, axis: int) -> Any:
        both, one, other, none = (np.sum(x, axis=axis) for x in (both, one, other, none))
        total = both + one + other + none
        p, q = (both + one) / total, (both + other) / total
        by_chance = p * q + (1 - p) * (1 - q)
        defined = by_chance < 1
        beyond = (both + none) / total - by_chance
        none_defined = np.full_like(beyond, _NO_KAPPA)
        return np.divide(beyond, 1 - by_chance, out=none_defined, where=defined)

    drawn = resampled(list(zip(*counts, strict=True)), statistic).bootstrap_distribution
    known = drawn[drawn < _NO_KAPPA]
    if len(known) < (1 - _UNDEFINED) * len(drawn):
        return None
    low, high = np.quantile(known, [ALPHA / 2, 1 - ALPHA / 2])
    return float(low), float(high)


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
