"""`--fail-under METRIC=VALUE`: figures of a report that must not be lower."""

from dataclasses import dataclass

from harness.errors import UsageError
from harness.report.figures import Report, figure_of, is_figure
from harness.report.table import percent


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a run passes the gate of this name, with the figures that say so."""

    name: str
    passed: bool
    said: str

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}: {self.said}"


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
    if not is_figure(metric):
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
