"""Weights chosen on some questions, judged on the others.

A fold holds out a share of the questions, in every file they occur in: a question of a long
history is the same question as that of the short one. On the rest the grid's best weights are
chosen, by the mean of the metrics over the files; the held-out questions say what that is worth.
"""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.recall.histories import RecallQuestion
from benchmarks.recall.table import METRICS, figures_of
from benchmarks.recall.variants import OURS, weighted

GRID: dict[str, tuple[float, ...]] = {
    "words": (0.15, 0.25, 0.35),
    "session_words": (0.1, 0.2, 0.3),
    "said_then": (0.0, 0.05, 0.1, 0.2),
    "happened_then": (0.0, 0.02, 0.05, 0.1),
}
Rows = list[tuple[str, dict[str, float]]]


def cross_validate(files: Sequence[Sequence[RecallQuestion]], count: int) -> dict[str, Any]:
    """Choose and judge `count` times; also what the weights in use reach on the same questions."""
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
    """The fold that holds a question out: by a hash, so that nobody chose."""
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
