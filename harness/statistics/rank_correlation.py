"""How far two rankings of the same things agree."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt


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
