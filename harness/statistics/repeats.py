"""Several runs of one set-up: how much they wander without anything having been changed. Pure."""

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from harness.statistics.intervals import proportion


def repeats_table(outcomes: Sequence[Sequence[bool]]) -> dict[str, Any]:
    """Mean, spread and flips of two or more runs over the same questions in the same order.

    `flipped` is the share of questions that are not right in all or wrong in all runs; the standard
    deviation is over runs.
    """
    accuracies = [fmean(run) if run else None for run in outcomes]
    known = [value for value in accuracies if value is not None]
    questions = list(zip(*outcomes, strict=True))
    flipped = sum(len(set(question)) > 1 for question in questions)
    return {
        "runs": len(outcomes),
        "accuracies": accuracies,
        "mean": fmean(known) if known else None,
        "standard_deviation": stdev(known) if len(known) > 1 else None,
        "lowest": min(known, default=None),
        "highest": max(known, default=None),
        "flipped": proportion(flipped, len(questions)),
    }
