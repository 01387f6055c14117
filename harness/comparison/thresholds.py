"""`--fail-under METRIC=VALUE`: figures of a report that must not be lower."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError
from harness.report.table import percent


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a run passes the gate of this name, with the figures that say so."""

    name: str
    passed: bool
    said: str

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}: {self.said}"


Report = Mapping[str, Any]
_ACCURACIES = ("task_averaged", "abstention", "answerable", "scored")
_RANKED = r"(?:recall_(?:all|any|fraction)@\d+|ndcg@\d+\[(?:standard|longmemeval)\])"


@dataclass(frozen=True, slots=True)
class Threshold:
    """The lowest value, from 0 to 1, that a metric may have."""

    metric: str
    value: float

    @property
    def _name(self) -> str:
        return f"--fail-under {self.metric}={self.value:g}"

    def check(self, report: Report) -> GateResult:
        """Compare the report's figure itself, not its interval; one that is not there fails."""
        value = figure_of(report, self.metric)
        if value is None:
            return GateResult(self._name, False, f"{self.metric} was not measured in this run")
        wanted = f"{self.metric} {percent(value)} %, wanted at least {percent(self.value)} %"
        return GateResult(self._name, value >= self.value, wanted)


def parse_threshold(text: str) -> Threshold:
    """`METRIC=VALUE`, or a value for the accuracy; `UsageError` for anything else."""
    metric, found, value = text.rpartition("=")
    if not found:
        metric = "accuracy"
    if not any(re.fullmatch(pattern, metric) for pattern in _PLACES):
        raise UsageError(
            f"--fail-under {text}: unknown metric {metric!r}; see the benchmark's docs"
        )
    return Threshold(metric, share_of(value, text))


def share_of(value: str, text: str) -> float:
    """A number from 0 to 1; `text` is the whole option, which a `UsageError` names."""
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"--fail-under {text}: the value must be a share from 0 to 1")
    return share


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


# Where a report has the figures of these names: at last under the part in brackets.
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
