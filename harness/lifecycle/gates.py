"""`--fail-under [KIND=]VALUE`: the share of right cases that a kind, or all, must reach."""

from collections.abc import Sequence

from harness.errors import UsageError
from harness.gates.thresholds import GateResult
from harness.lifecycle.cases import KINDS
from harness.lifecycle.report import LifecycleReport
from harness.report.table import percent

ALL = "all"
Gate = tuple[str, float]


def parse_gate(text: str) -> Gate:
    """A kind, or all of them, with its share; `UsageError` for anything else."""
    name, _, value = text.rpartition("=")
    name = name or ALL
    if name not in (ALL, *KINDS):
        raise UsageError(f"--fail-under {text}: unknown kind {name!r}")
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"--fail-under {text}: the value must be a share from 0 to 1")
    return name, share


def check(report: LifecycleReport, gates: Sequence[Gate]) -> list[GateResult]:
    """Hold the shares themselves against the gates; a kind of which nothing was put fails."""
    shares = {kind["kind"]: kind["right"]["value"] for kind in report["kinds"]}
    shares[ALL] = report["right"]["value"]
    return [_result(name, wanted, shares.get(name)) for name, wanted in gates]


def _result(name: str, wanted: float, value: float | None) -> GateResult:
    option = f"--fail-under {name}={wanted:g}"
    if value is None:
        return GateResult(option, False, f"no case of {name!r} was put in this run")
    said = f"{name} {percent(value)} %, wanted at least {percent(wanted)} %"
    return GateResult(option, value >= wanted, said)
