"""`--fail-on-regression BASE`: a run must not be worse than an earlier one.

Worse means: one-sided p below 0.05, by the exact McNemar test over the questions of both runs where
the base is a run directory, by Fisher's exact test of the two shares where only its report is left.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.comparison.build import common_questions
from harness.comparison.compatibility import require_comparable
from harness.comparison.paired import paired_accuracy
from harness.comparison.runs import ComparedRun, load_run, load_runs
from harness.errors import RunMismatch, UsageError
from harness.gates.result import GateResult
from harness.report.table import p_value, percent
from harness.runs.run_dir import MANIFEST
from harness.statistics.intervals import ALPHA
from harness.statistics.pairs import Pairs, mcnemar_worse, unpaired_worse


def check_regression(path: Path, base: Path) -> GateResult:
    """Hold the run in `path` against a base; raises for a base it cannot be compared with."""
    if base.is_dir() or (base.parent / MANIFEST).exists():
        return _against_run(path, base if base.is_dir() else base.parent)
    return _against_report(load_run(path), _report(base), base)


def require_base(base: Path) -> None:
    """Refuse a base that is neither a run nor a report, before anything is run."""
    if not (base / MANIFEST).exists() and not base.is_file():
        raise UsageError(f"--fail-on-regression {base}: neither a run directory nor a report.json")


def _against_run(path: Path, base: Path) -> GateResult:
    first, second = load_runs([base, path])
    require_comparable([first, second], anyway=False)
    if not (first.is_judged and second.is_judged):
        raise UsageError("--fail-on-regression: both runs must have been judged")
    accuracy = paired_accuracy(first, second, common_questions([first, second]))
    if not accuracy["n"]:
        raise UsageError(f"--fail-on-regression {base}: no question in common")
    pairs = Pairs(**accuracy["pairs"])
    said = (
        f"accuracy {percent(accuracy['second']['value'])} % against "
        f"{percent(accuracy['first']['value'])} % of {first.name} over {pairs.n} questions, "
        f"{pairs.only_first} lost and {pairs.only_second} gained"
    )
    return _judged(mcnemar_worse(pairs), said)


def _against_report(run: ComparedRun, base: Mapping[str, Any], path: Path) -> GateResult:
    ours, theirs = run.report["accuracy"], base["accuracy"]
    if not (ours and theirs):
        raise UsageError("--fail-on-regression: both runs must have been judged")
    was = (base["data"]["sha256"], theirs["judge"], theirs["judge_hash"])
    now = (run.report["data"]["sha256"], ours["judge"], ours["judge_hash"])
    if was != now:
        raise RunMismatch(
            f"--fail-on-regression {path}: other data or another judge ({was}, {now})"
        )
    shares = [_counts(accuracy["overall"]) for accuracy in (theirs, ours)]
    said = (
        f"accuracy {percent(ours['overall']['value'])} % of {shares[1][1]} against "
        f"{percent(theirs['overall']['value'])} % of {shares[0][1]} in {path.name}"
    )
    return _judged(unpaired_worse(*shares), said)


def _judged(p: float, said: str) -> GateResult:
    return GateResult(p >= ALPHA, f"{said}; p of being worse {p_value(p)}")


def _counts(cell: Mapping[str, Any]) -> tuple[int, int]:
    return round((cell["value"] or 0.0) * cell["n"]), cell["n"]


def _report(path: Path) -> Any:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        report["accuracy"], report["data"]["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"--fail-on-regression {path}: not a report.json ({error})") from error
    return report
