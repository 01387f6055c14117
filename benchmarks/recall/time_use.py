"""What the time that a question names does best: nothing, lift what was said then, or filter by it.

Chosen on some of the questions that name a time and judged on the others, as weights are.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.recall.crossvalidation import fold_of
from benchmarks.recall.histories import RecallQuestion, Values
from benchmarks.recall.table import METRICS, figures_of
from benchmarks.recall.variants import OURS, Variant, weighted, without

_LIFTED = weighted(OURS)
_SIGNALS = ("said_then", "happened_then")


def _filtered(asked: RecallQuestion) -> Values:
    """As if nothing had been said outside the time range, unless nothing was said within it."""
    then = np.logical_or(*(asked.signals[name] > 0 for name in _SIGNALS))
    similarities = _LIFTED(asked)
    if not then.any():
        return similarities
    outside = ~np.isin(np.arange(len(asked.sessions)), asked.session_of[then])
    similarities[outside] = -np.inf
    return similarities


USES: dict[str, Variant] = {
    "off": weighted(without(*_SIGNALS)),
    "lift": _LIFTED,
    "filter": _filtered,
}


def figures_by_time_use(files: Sequence[Sequence[RecallQuestion]], folds: int) -> dict[str, Any]:
    """For each use its means over the questions that name a time; what each fold would choose, and
    what the choices found on the questions held out."""
    rows = {
        use: [
            (asked.question_id, figures_of(asked, variant))
            for file in files
            for asked in file
            if asked.names_time
        ]
        for use, variant in USES.items()
    }
    held_out: list[Mapping[str, float]] = []
    chosen: list[str] = []
    for fold in range(folds):
        good = {
            use: np.mean([list(row.values()) for id, row in found if fold_of(id, folds) != fold])
            for use, found in rows.items()
        }
        # Of what is as good, the one that changes least.
        best = max(good, key=lambda use: (good[use], use == "lift", use == "off"))
        chosen.append(best)
        held_out += [row for id, row in rows[best] if fold_of(id, folds) == fold]
    by_use = {use: _means([row for _, row in found]) for use, found in rows.items()}
    return {"uses": by_use, "chosen": chosen, "held out": _means(held_out)}


def print_time_use(console: Console, figures: Mapping[str, Any]) -> None:
    """One line a use, and one for what the folds chose."""
    table = Table("time", "n", *METRICS, title="questions that name a time")
    for use, row in figures["uses"].items():
        table.add_row(use, str(row["n"]), *(f"{row[metric]:.3f}" for metric in METRICS))
    held_out = figures["held out"]
    name = f"held out ({', '.join(figures['chosen'])})"
    table.add_row(name, str(held_out["n"]), *(f"{held_out[metric]:.3f}" for metric in METRICS))
    console.print(table)


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    means = {metric: float(np.mean([row[metric] for row in rows])) for metric in METRICS}
    return {"n": len(rows), **means}
