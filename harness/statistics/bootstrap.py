"""Intervals by resampling: of a mean over questions that stand alone, or that share a history.

Questions of one conversation succeed and fail together, so that the conversations are drawn, each
with all its questions. Pure functions; the same seed gives the same bounds.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from harness.statistics.intervals import ALPHA, Interval

RESAMPLES = 10_000
SEED = 0
# Below this, percentile intervals over clusters are known to be too narrow.
FEW_CLUSTERS = 20
_BATCH = 1_000


def bootstrap_mean(
    values: Sequence[float], clusters: Sequence[Hashable] | None = None, *, seed: int = SEED
) -> Interval | None:
    """The percentile interval of the mean; `clusters` names for each value what is drawn with it.

    None where resampling can tell nothing: fewer than two clusters, or all of them alike.
    """
    import numpy as np
    from scipy.stats import bootstrap

    sums, sizes = _by_cluster(values, clusters if clusters is not None else range(len(values)))
    if len({total / size for total, size in zip(sums, sizes, strict=True)}) < 2:
        return None

    def mean(totals: Any, counts: Any, axis: int) -> Any:
        return np.sum(totals, axis=axis) / np.sum(counts, axis=axis)

    bounds = bootstrap(
        (np.array(sums), np.array(sizes)),
        mean,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=_BATCH,
        confidence_level=1 - ALPHA,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(bounds.low), float(bounds.high))


def _by_cluster(
    values: Sequence[float], clusters: Sequence[Hashable]
) -> tuple[list[float], list[int]]:
    sums: dict[Hashable, float] = {}
    sizes: dict[Hashable, int] = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + value
        sizes[cluster] = sizes.get(cluster, 0) + 1
    return list(sums.values()), list(sizes.values())
