"""The report of a run: a table by kind, the cases not put and why, and every failure in full."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypedDict

from harness.comparison.gates import GateResult, share_of
from harness.errors import UsageError
from harness.lab.lifecycle.cases import KINDS, Case
from harness.lab.lifecycle.interfaces import AskLine, CaseLine, told
from harness.lab.lifecycle.run import FAILED, FORMAT, LifecycleRun
from harness.records.run_dir import REPORT_HTML, REPORT_JSON, REPORT_MARKDOWN
from harness.report.table import Table, markdown_page, percent, render_page
from harness.statistics.intervals import Share, proportion

TITLE = "Memory over its life"


class KindResult(TypedDict):
    """One kind: how many cases it has, how many of them were put, and how many of these are right.

    `error` counts cases whose requests failed: they were put and are not right. `not_put` counts
    cases that the interface cannot express or that were not run.
    """

    kind: str
    means: str
    cases: int
    right: Share
    error: int
    not_put: int


class FailedCase(TypedDict):
    """A case that is not right, with its steps, answers and replies."""

    case_id: str
    kind: str
    subject: str
    told: list[str]
    asks: list[AskLine]
    forgetting: list[str]
    error: str


class LifecycleReport(TypedDict):
    format: str
    harness_version: str
    assistant: Any
    profile: str
    manner: str
    sha256: str
    cases: int
    missing: int
    right: Share
    kinds: list[KindResult]
    not_put: dict[str, list[str]]
    failures: list[FailedCase]
    remarks: list[str]


def write_lifecycle_report(run: LifecycleRun) -> LifecycleReport:
    """Build the report from the directory's lines, replace the report's files, and return it."""
    report = build(run)
    tables, failures = report_tables(report), report["failures"]
    run.dir.replace(REPORT_JSON, json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    page = markdown_page(TITLE, [_sentence(report), *report["remarks"]], tables)
    run.dir.replace(REPORT_MARKDOWN, page + "".join(_markdown(failure) for failure in failures))
    html = render_page(
        "lifecycle.html",
        package="harness.lab.lifecycle",
        title=TITLE,
        facts=_facts(report),
        remarks=report["remarks"],
        tables=tables,
        failures=failures,
    )
    run.dir.replace(REPORT_HTML, html)
    return report


def build(run: LifecycleRun) -> LifecycleReport:
    lines = run.lines()
    errors = {line["case_id"]: line["message"] for line in run.dir.records(FAILED, "case_id")}
    errors = {name: said for name, said in errors.items() if name not in lines}
    cases, manifest = run.cases.cases, run.manifest.data
    not_put: dict[str, list[str]] = {}
    for case in cases:
        if case.case_id not in lines and (reason := run.not_put(case)):
            not_put.setdefault(reason, []).append(case.case_id)
    skipped = {name for names in not_put.values() for name in names}
    kinds = [
        _kind(run, [case for case in cases if case.kind == kind], lines, errors, skipped)
        for kind in KINDS
        if any(case.kind == kind for case in cases)
    ]
    right = sum(line["passed"] for line in lines.values())
    return {
        "format": FORMAT,
        "harness_version": manifest["harness_version"],
        "assistant": manifest["assistant"],
        "profile": run.approach.profile.name,
        "manner": run.approach.manner,
        "sha256": run.cases.sha256,
        "cases": len(cases),
        "missing": len(cases) - len(skipped) - len(lines) - len(errors),
        "right": proportion(right, len(lines) + len(errors)),
        "kinds": kinds,
        "not_put": not_put,
        "failures": list(_failures(cases, lines, errors)),
        "remarks": list(_remarks(run)),
    }


def _kind(
    run: LifecycleRun,
    cases: Sequence[Case],
    lines: dict[str, CaseLine],
    errors: dict[str, str],
    skipped: set[str],
) -> KindResult:
    names = {case.case_id for case in cases}
    error = len(names & errors.keys())
    put = [lines[name] for name in names & lines.keys()]
    return {
        "kind": cases[0].kind,
        "means": run.cases.means[cases[0].kind],
        "cases": len(cases),
        "right": proportion(sum(line["passed"] for line in put), len(put) + error),
        "error": error,
        "not_put": len(names & skipped),
    }


def _failures(
    cases: Sequence[Case], lines: dict[str, CaseLine], errors: dict[str, str]
) -> Iterator[FailedCase]:
    for case in cases:
        line = lines.get(case.case_id)
        if line and line["passed"]:
            continue
        if not line and case.case_id not in errors:
            continue
        yield {
            "case_id": case.case_id,
            "kind": case.kind,
            "subject": case.subject,
            "told": list(told(case)),
            "asks": line["asks"] if line else [],
            "forgetting": line["forgetting"] if line else [],
            "error": "" if line else errors[case.case_id],
        }


def _remarks(run: LifecycleRun) -> Iterator[str]:
    profile = run.approach.profile
    if run.approach.names_users:
        return
    yield f"Profile {profile.name} names no user: cases were put one after the other."
    if profile.forget is None:
        yield (
            "Its memory, if it has one, was not emptied between cases, so that what one case told "
            "may have spoilt another."
        )


def report_tables(report: LifecycleReport) -> list[Table]:
    """The table by kind, and the table of the cases that were not put."""
    rows = [_row(kind["kind"], kind) for kind in report["kinds"]]
    total = {
        "right": report["right"],
        "error": sum(kind["error"] for kind in report["kinds"]),
        "not_put": sum(kind["not_put"] for kind in report["kinds"]),
    }
    header = ("kind", "right", "of", "%", "95 %", "errors", "not put")
    tables = [Table("By kind", header, [*rows, _row("all", total)], _sentence(report))]
    if report["not_put"]:
        reasons = [(reason, ", ".join(names)) for reason, names in report["not_put"].items()]
        title = "Not put: neither right nor wrong"
        tables.append(Table(title, ("reason", "cases"), reasons, in_words=True))
    return tables


def _row(name: str, counts: Any) -> tuple[str, ...]:
    right: Share = counts["right"]
    if not right["n"]:
        return (name, "–", "0", "–", "–", str(counts["error"]), str(counts["not_put"]))
    passed = round((right["value"] or 0) * right["n"])
    bounds = f"{percent(right['low'])}–{percent(right['high'])}"
    share = percent(right["value"])
    errors, not_put = str(counts["error"]), str(counts["not_put"])
    return (name, str(passed), str(right["n"]), share, bounds, errors, not_put)


def _sentence(report: LifecycleReport) -> str:
    put = f"{report['right']['n']} of {report['cases']} cases were put"
    missing = f", {report['missing']} are missing" if report["missing"] else ""
    return f"{put}{missing}. Profile {report['profile']}, by {report['manner']}."


def _facts(report: LifecycleReport) -> dict[str, str]:
    assistant = report["assistant"] or {}
    return {
        "cases": f"{report['right']['n']} of {report['cases']}",
        "right, %": percent(report["right"]["value"]),
        "assistant": assistant.get("url", "–"),
        "model": assistant.get("model", "–"),
        "profile": f"{report['profile']}, by {report['manner']}",
        "cases' SHA-256": f"{report['sha256'][:12]}…",
        "harness": report["harness_version"],
    }


def _markdown(failure: FailedCase) -> str:
    lines = [f"\n## {failure['case_id']} ({failure['kind']}; {failure['subject']})\n"]
    lines += [f"- {line}" for line in failure["told"]]
    for ask in failure["asks"]:
        verdict = "; ".join(ask["faults"]) or "right"
        lines += [f"\n**{ask['at']}: {ask['question']}** {verdict}\n"]
        lines += [f"> {line}" for line in ask["answer"].splitlines()]
    lines += [f"\nError: {failure['error']}"] if failure["error"] else []
    return "\n".join(lines) + "\n"


ALL = "all"
Gate = tuple[str, float]


def parse_gate(text: str) -> Gate:
    """Read `KIND=SHARE`, or a share of all cases; raises `UsageError` for anything else."""
    name, _, value = text.rpartition("=")
    name = name or ALL
    if name not in (ALL, *KINDS):
        raise UsageError(f"--fail-under {text}: unknown kind {name!r}")
    return name, share_of(value, text)


def check(report: LifecycleReport, gates: Sequence[Gate]) -> list[GateResult]:
    """Compare the shares themselves, not their bounds, with the gates; a kind without a case that
    was put fails."""
    shares = {kind["kind"]: kind["right"]["value"] for kind in report["kinds"]}
    shares[ALL] = report["right"]["value"]
    return [_result(name, wanted, shares.get(name)) for name, wanted in gates]


def _result(name: str, wanted: float, value: float | None) -> GateResult:
    option = f"--fail-under {name}={wanted:g}"
    if value is None:
        return GateResult(option, False, f"no case of {name!r} was put in this run")
    said = f"{name} {percent(value)} %, wanted at least {percent(wanted)} %"
    return GateResult(option, value >= wanted, said)
