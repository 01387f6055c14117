"""How many paired questions a difference takes to be seen, at the discordance observed. Pure.

The difference of two shares over the same questions has the variance `discordance - difference²` a
question; sizes and effects are those of a z-test of that mean, two-sided at 5 %, with 80 % power.
"""

import math

from harness.statistics.intervals import ALPHA

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
