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
    return math.ceil(_solve(effect_size=effect))


def smallest_difference(n: int, discordance: float) -> float | None:
    """The smallest difference that `n` questions can be expected to show; None where unknown."""
    if n < 2 or discordance <= 0:
        return None
    effect = _solve(nobs1=float(n))
    difference = effect * math.sqrt(discordance / (1 + effect**2))
    return difference if difference < discordance else None


def _solve(**known: float) -> float:
    from statsmodels.stats.power import NormalIndPower

    # ratio 0 makes it a test of one sample: the differences.
    return float(NormalIndPower(ddof=0).solve_power(alpha=ALPHA, power=POWER, ratio=0, **known))
