"""The figures of a report by the names that gates and plans take: `accuracy`, `recall_all@5`."""

import re
from collections.abc import Mapping
from typing import Any

Report = Mapping[str, Any]
_ACCURACIES = ("task_averaged", "abstention", "answerable", "scored")
_RANKED = r"(?:recall_(?:all|any|fraction)@\d+|ndcg@\d+\[(?:standard|longmemeval)\])"


def is_figure(metric: str) -> bool:
    return any(re.fullmatch(pattern, metric) for pattern in _PLACES)


def figure_of(report: Report, metric: str) -> float | None:
    """A figure by the name that `--fail-under` takes; None where the report has none."""
    cell = cell_of(report, metric)
    return None if cell is None else cell["value"]


def cell_of(report: Report, metric: str) -> Mapping[str, Any] | None:
    """The figure with its denominator; None where nothing was measured."""
    for pattern, place in _PLACES.items():
        if found := re.fullmatch(pattern, metric):
            cell: Any = report
            for name in (*place, *found.groups()):
                cell = cell.get(name) if isinstance(cell, Mapping) else None
            return None if cell is None or cell["value"] is None else cell
    return None


def bounds_of(cell: Mapping[str, Any]) -> tuple[float, float]:
    """The interval to show: by conversation where questions share conversations, else Wilson's."""
    clustered = cell.get("clustered") or {}
    if clustered.get("low") is not None:
        return clustered["low"], clustered["high"]
    return cell["low"], cell["high"]


# The path in a report to the figures of these names; the part in brackets is the path's last key.
_PLACES: dict[str, tuple[str, ...]] = {
    "accuracy": ("accuracy", "overall"),
    r"accuracy\.(.+)": ("accuracy", "by_type"),
    rf"({'|'.join(_ACCURACIES)})": ("accuracy",),
    rf"({_RANKED})": ("retrieval", "session"),
    rf"round\.({_RANKED})": ("retrieval", "round"),
    rf"turn\.({_RANKED})": ("retrieval", "turn", "strict", "overall"),
    r"evidence_in_context@(\d+)": ("retrieval", "evidence_in_context"),
    r"(evidence_in_prompt)": (),
    r"(f1|bleu1)": ("official_metrics", "overall"),
    r"rubric\.(fractional|official)": ("rubric_scores", "overall"),
}
