"""Paired differences that are more than yes or no: the sign-flip permutation test. Pure."""

from collections.abc import Sequence
from typing import Any

RESAMPLES = 10_000
SEED = 0


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
