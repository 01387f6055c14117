"""Whether a run, or a comparison of two, followed its plan, and whether the hypothesis held."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, TypedDict

from harness.records.manifest import difference
from harness.records.plan import COMPARISON_TESTS, KeptPlan, Plan
from harness.records.schema import ManifestData
from harness.report.figures import Report, bounds_of, cell_of
from harness.report.table import Table, p_value
from harness.statistics.intervals import ALPHA, proportion

Verdict = Literal["held", "failed", "not measured", "needs a comparison", "not run"]
# Figures that are yes or no for each question. A report keeps only their share, without bounds.
_YES_OR_NO = ("recall_all@", "recall_any@", "evidence_in_")


class PlannedFigure(TypedDict):
    """A figure or a difference of two figures, with the values that its test needs; None where a
    value is not known."""

    value: float | None
    low: float | None
    p: float | None


NOT_MEASURED: PlannedFigure = {"value": None, "low": None, "p": None}


class PlanOutcome(TypedDict):
    """`deviations` say what was not as planned, in sentences without a stop."""

    plan: Plan
    sha256: str
    deviations: list[str]
    measured: PlannedFigure
    verdict: Verdict


def run_outcome(kept: KeptPlan, manifest: ManifestData, report: Report) -> PlanOutcome:
    plan = kept.plan
    measured = _of_report(report, plan["metric"])
    verdict: Verdict = "needs a comparison"
    if plan["test"] not in COMPARISON_TESTS:
        verdict = verdict_on(plan, measured)
    deviations = [*edited(kept, manifest), *run_deviations(kept, manifest)]
    deviations += _unfinished(plan, report)
    return outcome(kept, deviations, measured, verdict)


def outcome(
    kept: KeptPlan, deviations: list[str], measured: PlannedFigure, verdict: Verdict
) -> PlanOutcome:
    return {
        "plan": kept.plan,
        "sha256": kept.sha256,
        "deviations": deviations,
        "measured": measured,
        "verdict": verdict,
    }


def verdict_on(plan: Plan, measured: PlannedFigure) -> Verdict:
    """Whether the test of the plan says that the hypothesis holds."""
    value, low, p = measured["value"], measured["low"], measured["p"]
    test, threshold = plan["test"], plan["threshold"]
    if test in ("interval", "bootstrap"):
        value = low
    if value is None or (test == "mcnemar" and p is None):
        return "not measured"
    is_sure = test != "mcnemar" or (p is not None and p < ALPHA)
    return "held" if is_sure and value >= threshold else "failed"


def edited(kept: KeptPlan, manifest: ManifestData) -> Iterator[str]:
    """Say that the plan was edited after the run began, if it was."""
    record = manifest.get("plan")
    if record is not None and record["sha256"] != kept.sha256:
        yield (
            f"the plan was edited after the run began (SHA-256 {record['sha256'][:12]} then, "
            f"{kept.sha256[:12]} now)"
        )


def run_deviations(kept: KeptPlan, manifest: ManifestData) -> Iterator[str]:
    """The deviations of a run from its plan: in the data, the set-up, and the time it began."""
    yield from data_deviations(kept.plan, manifest)
    yield from set_up_deviations(kept.plan["set_up"], manifest)
    began = manifest.get("created_at")
    if began and datetime.fromisoformat(began) < datetime.fromisoformat(kept.plan["written_at"]):
        yield f"the run began at {began}, before the plan was written"


def data_deviations(plan: Plan, manifest: ManifestData) -> Iterator[str]:
    """Deviations in the data or in the selected questions; unknown values count as planned."""
    data = manifest["dataset"]
    planned = plan["dataset"]
    if data["name"] != planned["name"]:
        yield f"data set {data['name']}, planned {planned['name']}"
    if data["sha256"] is not None and data["sha256"] != planned["sha256"]:
        yield f"data SHA-256 {data['sha256'][:12]}, planned {planned['sha256'][:12]}"
    if data["gold"] != planned["gold"]:
        yield "other corrections of the data than planned"
    if manifest["filters"] != plan["filters"]:
        yield f"other questions ({difference(plan['filters'], manifest['filters'])})"
    if manifest["selected"] not in (None, plan["n"]):
        yield f"n = {manifest['selected']}, planned {plan['n']}"


def set_up_deviations(planned: Mapping[str, str], manifest: ManifestData) -> Iterator[str]:
    for name, value in planned.items():
        told = _told(manifest, name)
        if str(told) != value:
            yield f"{name} is {told}, planned {value}"


def _told(value: Any, name: str) -> Any:
    """The value under a dotted name in a manifest; a setting's own name may have dots, too."""
    if not isinstance(value, Mapping):
        return None
    if name in value:
        return value[name]
    parts = (key for key in value if name.startswith(f"{key}."))
    found = (_told(value[key], name.removeprefix(f"{key}.")) for key in parts)
    return next((one for one in found if one is not None), None)


def _unfinished(plan: Plan, report: Report) -> Iterator[str]:
    if report["accuracy"] and (silent := report["missing"] - report["failed"]) > 0:
        yield f"{silent} of {plan['n']} questions were neither answered nor failed"


def _of_report(report: Report, metric: str) -> PlannedFigure:
    cell = cell_of(report, metric)
    if cell is None:
        return NOT_MEASURED
    low = None
    if "low" in cell:
        low, _ = bounds_of(cell)
    elif any(name in metric for name in _YES_OR_NO):
        low = proportion(round(cell["value"] * cell["n"]), cell["n"])["low"]
    return {"value": cell["value"], "low": low, "p": None}


_TESTS = {
    "value": "{metric} is at least {threshold}",
    "interval": "the lower bound of {metric} at 95 % is at least {threshold}",
    "difference": "{metric} is better by at least {threshold}",
    "bootstrap": "the lower bound of the difference in {metric} at 95 % is at least {threshold}",
    "mcnemar": "{metric} is better by at least {threshold}, with p < 0.05 by McNemar's test",
}


def test_of(plan: Plan) -> str:
    """The test of a plan as a clause."""
    return _TESTS[plan["test"]].format(metric=plan["metric"], threshold=f"{plan['threshold']:g}")


def figures_of(measured: PlannedFigure) -> str:
    value, low, p = measured["value"], measured["low"], measured["p"]
    said = "–" if value is None else f"{value:.3f}"
    said += "" if low is None else f", lower bound {low:.3f}"
    return said + ("" if p is None else f", p {p_value(p)}")


def plan_table(found: PlanOutcome) -> Table:
    plan, deviations = found["plan"], found["deviations"]
    rows = [
        ("hypothesis", plan["hypothesis"]),
        ("test", f"{test_of(plan)}; n = {plan['n']}"),
        ("measured", figures_of(found["measured"])),
        ("outcome", found["verdict"]),
        ("followed", "no" if deviations else "yes"),
        *(("deviation", said) for said in deviations),
        ("plan", f"written {plan['written_at']}, SHA-256 {found['sha256'][:12]}"),
    ]
    return Table("The plan", ("", ""), rows, in_words=True)
