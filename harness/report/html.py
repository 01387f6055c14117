"""The report of a run as one HTML file: headline, charts, tables, then every question in full."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from harness.records.lines import RunLines
from harness.records.schema import DataRecord
from harness.report.accuracy_tables import known_wrong_note
from harness.report.chart_sections import bounds_of, charts
from harness.report.drilldown import shown_questions
from harness.report.pages import render_page
from harness.report.schema import Report
from harness.report.table import number, percent
from harness.report.tables import report_tables
from harness.statistics.intervals import proportion


class Card(NamedTuple):
    """One figure of the headline."""

    name: str
    value: str
    detail: str


def render_html(report: Report, lines: RunLines) -> str:
    """The whole page."""
    return render_page(
        "report.html",
        title=f"Benchmark report: {report['dataset']}",
        facts=_facts(report),
        headline=list(_headline(report)),
        charts=charts(report),
        tables=report_tables(report),
        questions=shown_questions(lines, judged=report["accuracy"] is not None),
    )


def _facts(report: Report) -> dict[str, str]:
    assistant, accuracy = report["assistant"], report["accuracy"]
    version = ((assistant and assistant["version"]) or {}).get("version")
    profile = (report["conduct"]["approach"] or {}).get("profile") or {}
    return {
        "questions": f"{report['n']} of {report['data']['questions']}",
        "mode": report["mode"] or "judged only",
        "assistant": (assistant and assistant["url"]) or "–",
        "profile": profile.get("name", "–"),
        "model": f"{assistant['model'] if assistant else '–'} {version or ''}",
        "judge": accuracy["judge"] if accuracy else "none",
        "data": _data(report["data"]),
        "harness": report["harness_version"],
    }


def _data(data: DataRecord) -> str:
    facts = [data["file"] or "built in", *([data["edition"]] if data["edition"] else [])]
    facts.append(f"SHA-256 {data['sha256'][:12]}…" if data["sha256"] else "not hashed yet")
    if data["gold"]:
        facts.append(f"{data['gold']['changed']} labels corrected by {data['gold']['file']}")
    return ", ".join(facts)


def _headline(report: Report) -> Iterator[Card]:
    if report["accuracy"]:
        overall = report["accuracy"]["overall"]
        said = f"{_interval(overall)}.{known_wrong_note(report['accuracy'])}"
        yield Card("accuracy, %", percent(overall["value"]), said)
    recall = report["retrieval"] and report["retrieval"]["session"].get("recall_all@5")
    if recall and recall["value"] is not None:
        share = proportion(round(recall["value"] * recall["n"]), recall["n"])
        yield Card("session recall_all@5, %", percent(share["value"]), _interval(share))
    counts = f"{report['missing']} missing, {report['failed']} failed"
    if report["unscored"]:
        counts += f", {report['unscored']} unscored"
    yield Card("questions", str(report["n"]), counts)
    tokens = report["tokens"]["prompt_per_question"]
    if tokens is not None:
        answer = report["latency"]["answer_ms"]
        said = f"answer p50 {number(answer['p50'])} ms, p95 {number(answer['p95'])} ms"
        yield Card("prompt tokens a question", number(tokens), said)


def _interval(cell: Mapping[str, Any]) -> str:
    low, high = bounds_of(cell)
    return f"95 %: {percent(low)}–{percent(high)}, n = {cell['n']}"
