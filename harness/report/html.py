"""The report of a run as one HTML file: headline, charts, tables, then every question in full."""

from collections.abc import Mapping
from html import escape
from typing import Any

from harness.records.lines import RunLines
from harness.report.accuracy_tables import known_wrong_note
from harness.report.chart_sections import bounds_of, charts
from harness.report.drilldown import drilldown
from harness.report.page import asset, html_header, html_page, html_table
from harness.report.table import number, percent
from harness.report.tables import report_tables
from harness.statistics.intervals import proportion


def render_html(report: Mapping[str, Any], lines: RunLines) -> str:
    """The whole page; every text from data or assistant is escaped."""
    title = f"Benchmark report: {report['dataset']}"
    tables = "".join(map(html_table, report_tables(report)))
    parts = [
        html_header(title, _facts(report)),
        _headline(report),
        charts(report),
        f"<details class=tables open><summary>All figures as tables</summary>{tables}</details>",
        drilldown(lines, judged=report["accuracy"] is not None),
    ]
    return html_page(title, "\n".join(parts), script=asset("report.js"))


def _facts(report: Mapping[str, Any]) -> dict[str, str]:
    assistant = report["assistant"] or {}
    version = (assistant.get("version") or {}).get("version")
    profile = ((report.get("conduct") or {}).get("approach") or {}).get("profile") or {}
    return {
        "questions": f"{report['n']} of {report['data']['questions']}",
        "mode": report["mode"] or "judged only",
        "assistant": assistant.get("url") or "–",
        "profile": profile.get("name", "–"),
        "model": f"{assistant.get('model', '–')} {version or ''}",
        "judge": (report["accuracy"] or {}).get("judge", "none"),
        "data": _data(report["data"]),
        "harness": report["harness_version"],
    }


def _data(data: Mapping[str, Any]) -> str:
    facts = [data["file"] or "built in", *([data["edition"]] if data["edition"] else [])]
    facts.append(f"SHA-256 {data['sha256'][:12]}…" if data["sha256"] else "not hashed yet")
    if data["gold"]:
        facts.append(f"{data['gold']['changed']} labels corrected by {data['gold']['file']}")
    return ", ".join(facts)


def _headline(report: Mapping[str, Any]) -> str:
    cards = []
    if report["accuracy"]:
        overall = report["accuracy"]["overall"]
        said = f"{_interval(overall)}.{known_wrong_note(report['accuracy'])}"
        cards.append(("accuracy, %", percent(overall["value"]), said))
    recall = ((report["retrieval"] or {}).get("session") or {}).get("recall_all@5")
    if recall:
        cell = proportion(round(recall["value"] * recall["n"]), recall["n"])
        cards.append(("session recall_all@5, %", percent(cell["value"]), _interval(cell)))
    counts = f"{report['missing']} missing, {report['failed']} failed"
    if report["unscored"]:
        counts += f", {report['unscored']} unscored"
    cards.append(("questions", str(report["n"]), counts))
    tokens = report["tokens"]["prompt_per_question"]
    if tokens is not None:
        answer = report["latency"]["answer_ms"]
        said = f"answer p50 {number(answer['p50'])} ms, p95 {number(answer['p95'])} ms"
        cards.append(("prompt tokens a question", number(tokens), said))
    return '<section class="cards">' + "".join(_card(*card) for card in cards) + "</section>"


def _interval(cell: Mapping[str, Any]) -> str:
    low, high = bounds_of(cell)
    return f"95 %: {percent(low)}–{percent(high)}, n = {cell['n']}"


def _card(name: str, value: str, detail: str) -> str:
    return (
        f'<div class="card"><span>{escape(name)}</span><strong>{escape(value)}</strong>'
        f"<small>{escape(detail)}</small></div>"
    )
