"""Several tests at once: p-values that hold for all of them together. Pure functions."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    if not p_values:
        return []
    from statsmodels.stats.multitest import multipletests

    return [float(value) for value in multipletests(list(p_values), method="holm")[1]]
