"""Weights chosen on some questions, judged on the others.

A fold holds out a share of the questions, in every file they occur in: a question of a long
history is the same question as that of the short one. On the rest the grid's best weights are
chosen, by the mean of the metrics over the files. The held-out questions show how good they are.

The best use of the time that a question names (ignore it, lift what was said then, or filter by it)
is chosen and judged in the same way.
"""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.recall.histories import RecallQuestion, Values
from benchmarks.recall.table import METRICS, OURS, Variant, figures_of, weighted, without

GRID: dict[str, tuple[float, ...]] = {
    "words": (0.15, 0.25, 0.35),
    "session_words": (0.1, 0.2, 0.3),
    "said_then": (0.0, 0.05, 0.1, 0.2),
    "happened_then": (0.0, 0.02, 0.05, 0.1),
}
Rows = list[tuple[str, dict[str, float]]]


def cross_validate(files: Sequence[Sequence[RecallQuestion]], count: int) -> dict[str, Any]:
    """Choose and judge `count` times, and measure the weights in use on the same questions."""
    choices = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    found = [_found(files, choice) for choice in choices]
    folds, held_out = [], []
    for fold in range(count):
        goodness = [
            _goodness(rows, lambda id, held=fold: fold_of(id, count) != held) for rows in found
        ]
        best = int(np.argmax(goodness))
        rows = [row for file in found[best] for id, row in file if fold_of(id, count) == fold]
        held_out += rows
        folds.append({"weights": choices[best], **_means(rows)})
    in_use = [row for file in _found(files, OURS) for _, row in file]
    return {"folds": folds, "held out": _means(held_out), "in use": _means(in_use)}


def fold_of(question_id: str, count: int) -> int:
    """The fold that holds a question out, by a hash, so that nobody chooses it."""
    return hashlib.sha256(question_id.encode()).digest()[0] % count


def _found(files: Sequence[Sequence[RecallQuestion]], weights: Mapping[str, float]) -> list[Rows]:
    """The figures of every question of every file."""
    variant = weighted(OURS | dict(weights))
    return [[(asked.question_id, figures_of(asked, variant)) for asked in file] for file in files]


def _goodness(files: Sequence[Rows], belongs: Any) -> float:
    """The mean of all metrics over the questions that belong, every file counting the same."""
    return float(
        np.mean([np.mean([list(row.values()) for id, row in f if belongs(id)]) for f in files])
    )


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    means = {metric: float(np.mean([row[metric] for row in rows])) for metric in METRICS}
    return {"n": len(rows), **means}


_LIFTED = weighted(OURS)
_SIGNALS = ("said_then", "happened_then")


def _filtered(asked: RecallQuestion) -> Values:
    """Rank as if nothing had been said outside the named time; if nothing was said within it, rank
    as without a filter."""
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
    """The means of each use over the questions that name a time, the use that each fold chooses,
    and the means of the chosen uses over the held-out questions."""
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
        # Among equally good uses, prefer `lift`, which is in use, then `off`.
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
