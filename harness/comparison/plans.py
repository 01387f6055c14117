"""Plans of comparisons, and all plans under a folder with their outcomes."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

from harness.comparison.runs import ComparedRun, read_run_at
from harness.errors import HarnessError, UsageError
from harness.records.plan import COMPARISON_TESTS, KeptPlan, read_plan
from harness.records.run_dir import MANIFEST
from harness.report.plan import (
    NOT_MEASURED,
    PlannedFigure,
    PlanOutcome,
    edited,
    figures_of,
    outcome,
    run_deviations,
    set_up_deviations,
    test_of,
    verdict_on,
)
from harness.report.table import Table

COMPARE_JSON = "compare.json"
# No plan is larger; other JSON files of a folder are not opened.
_LARGEST = 1 << 16
_OPEN = "needs a comparison"


def comparison_outcome(
    kept: KeptPlan,
    runs: Sequence[ComparedRun],
    comparisons: Sequence[Mapping[str, Any]],
    n: int,
) -> PlanOutcome:
    """The outcome of a plan for the second run against the first. Raises `UsageError` if the plan
    is for single runs, or if there are not exactly two runs.

    The first run may be older than the plan.
    """
    plan = kept.plan
    if plan["test"] not in COMPARISON_TESTS:
        raise UsageError(f"--plan: its test {plan['test']} is for a single run")
    if len(runs) != 2:
        raise UsageError("--plan compares two runs: the base and the one that is planned")
    base, run = runs
    deviations = [f"{run.name}: {said}" for said in run_deviations(kept, run.manifest)]
    own = run.lines.plan
    if own is not None and own.plan["plan_id"] == plan["plan_id"]:
        deviations += [f"{run.name}: {said}" for said in edited(kept, run.manifest)]
    told = set_up_deviations(plan["base"], base.manifest)
    deviations += [f"{base.name}: {said}" for said in told]
    if n != plan["n"]:
        deviations.append(f"n = {n} questions in common, planned {plan['n']}")
    measured = _measured(comparisons[0], plan["metric"])
    return outcome(kept, deviations, measured, verdict_on(plan, measured))


def _measured(comparison: Mapping[str, Any], metric: str) -> PlannedFigure:
    cell = _cell(comparison, metric)
    if cell is None:
        return NOT_MEASURED
    return {"value": cell["difference"]["value"], "low": cell["difference"]["low"], "p": cell["p"]}


def _cell(comparison: Mapping[str, Any], metric: str) -> Mapping[str, Any] | None:
    accuracy = comparison["accuracy"] or {}
    name = metric.partition(".")[0]
    cells: Mapping[str, Mapping[str, Any]] = comparison["figures"]
    if name == "accuracy":
        cells = {"accuracy": accuracy} | {
            f"accuracy.{kind}": cell for kind, cell in accuracy.get("by_type", {}).items()
        }
    return cells.get(metric) or None


class PlanRow(PlanOutcome):
    """A plan with its outcome in the run or comparison of this name."""

    name: str


class PlansUnder(TypedDict):
    plans: list[PlanRow]
    unread: list[str]


def plans_under(folder: Path) -> PlansUnder:
    """Every plan under a folder with its outcome, in the order of writing, and the errors of runs
    that could not be read. Raises `UsageError` where there is no plan.
    """
    found, unread = _of_runs(folder)
    found += _of_comparisons(folder)
    _lay_beside(found, _files(folder))
    if not found:
        raise UsageError(f"{folder}: no plan under it")
    settled = {one["plan"]["plan_id"] for one in found if one["verdict"] != _OPEN}
    shown = [
        one for one in found if one["verdict"] != _OPEN or one["plan"]["plan_id"] not in settled
    ]
    shown.sort(key=lambda one: (one["plan"]["written_at"], one["name"]))
    return {"plans": shown, "unread": unread}


def _of_runs(folder: Path) -> tuple[list[PlanRow], list[str]]:
    found: list[PlanRow] = []
    unread = []
    for path in sorted(folder.rglob(MANIFEST)):
        try:
            run = read_run_at(path.parent, _name(path.parent, folder))
        except HarnessError as error:
            unread.append(str(error))
            continue
        if planned := run.report["plan"]:
            found.append(_listed(run.name, planned))
    return found, unread


def _of_comparisons(folder: Path) -> Iterator[PlanRow]:
    for path in sorted(folder.rglob(COMPARE_JSON)):
        if planned := json.loads(path.read_text(encoding="utf-8")).get("plan"):
            yield _listed(_name(path.parent, folder), planned)


def _files(folder: Path) -> Iterator[tuple[str, KeptPlan]]:
    """The plan files that people keep; the copies inside run directories are left out."""
    for path in sorted(folder.rglob("*.json")):
        if path.stat().st_size > _LARGEST or (path.parent / MANIFEST).exists():
            continue
        with suppress(UsageError):
            yield _name(path, folder), read_plan(path)


def _lay_beside(found: list[PlanRow], files: Iterable[tuple[str, KeptPlan]]) -> None:
    """Add the plans that were never run, and note where a plan's file was edited after its run."""
    for name, kept in files:
        used = [one for one in found if one["plan"]["plan_id"] == kept.plan["plan_id"]]
        for one in used:
            if one["sha256"] != kept.sha256:
                one["deviations"].append(f"the plan in {name} was edited since")
        if not used:
            found.append(_listed(name, outcome(kept, [], NOT_MEASURED, "not run")))


def _listed(name: str, found: PlanOutcome) -> PlanRow:
    return {"name": name, **found}


def _name(path: Path, folder: Path) -> str:
    return path.name if path == folder else str(path.relative_to(folder))


def plans_table(found: PlansUnder) -> Table:
    rows = [
        (
            one["name"],
            one["plan"]["hypothesis"],
            f"{test_of(one['plan'])}; n = {one['plan']['n']}",
            figures_of(one["measured"]),
            one["verdict"],
            "; ".join(one["deviations"]) or "none",
        )
        for one in found["plans"]
    ]
    counts = Counter(
        one["verdict"] + (" with deviations" if one["deviations"] else "") for one in found["plans"]
    )
    note = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    header = ("run", "hypothesis", "test", "measured", "outcome", "deviations")
    return Table("Plans", header, rows, f"{note}.", in_words=True)
