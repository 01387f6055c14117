"""The report as one HTML file that needs nothing else: tables, then every question in full."""

from collections.abc import Mapping
from html import escape
from typing import Any

from harness.report.judge_tables import known_wrong_note
from harness.report.page import html_header, html_page, html_table
from harness.report.table import percent
from harness.report.tables import report_tables
from harness.runs.digest import QuestionDigest
from harness.runs.lines import RunLines, outcome_of

_RANKED_SHOWN = 5
_MARKS = {"yes": "right", "no": "wrong", "unscored": "unscored", "missing": "missing"}


def render_html(report: Mapping[str, Any], lines: RunLines) -> str:
    """The whole page; every text from data or assistant is escaped."""
    title = f"Benchmark report: {report['dataset']}"
    judged = report["accuracy"] is not None
    questions = "\n".join(_question(q, lines, judged=judged) for q in lines.questions)
    parts = [
        html_header(title, _facts(report)),
        _headline(report),
        *map(html_table, report_tables(report)),
        f"<section>\n<h2>Questions</h2>\n{questions}\n</section>",
    ]
    return html_page(title, "\n".join(parts))


def _facts(report: Mapping[str, Any]) -> dict[str, str]:
    assistant = report["assistant"] or {}
    version = (assistant.get("version") or {}).get("version")
    return {
        "questions": f"{report['n']} of {report['data']['questions']}",
        "mode": report["mode"] or "judged only",
        "assistant": f"{assistant.get('model', '–')} {version or ''}",
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
        interval = f"{percent(overall['low'])}–{percent(overall['high'])}, n = {overall['n']}."
        interval += known_wrong_note(report["accuracy"])
        cards.append(("accuracy", percent(overall["value"]), interval))
    recall = ((report["retrieval"] or {}).get("session") or {}).get("recall_all@5")
    if recall:
        cards.append(("session recall_all@5", percent(recall["value"]), f"n = {recall['n']}"))
    counts = f"{report['missing']} missing, {report['failed']} failed"
    cards.append(("questions", str(report["n"]), counts))
    return '<section class="cards">' + "".join(_card(*card) for card in cards) + "</section>"


def _card(name: str, value: str, detail: str) -> str:
    return (
        f'<div class="card"><span>{escape(name)}</span><strong>{escape(value)}</strong>'
        f"<small>{escape(detail)}</small></div>"
    )


def _question(question: QuestionDigest, lines: RunLines, *, judged: bool) -> str:
    outcome = outcome_of(question, lines)
    shown = "asked" if outcome == "unscored" and not judged else _MARKS[outcome]
    mark = f'<span class="mark {shown}">{shown}</span>'
    summary = f"{mark}<code>{escape(question.question_id)}</code> {escape(question.question)}"
    return f"<details><summary>{summary}</summary>{_details(question, lines)}</details>"


def _details(question: QuestionDigest, lines: RunLines) -> str:
    key = question.question_id
    hypothesis = lines.hypotheses.get(key, {}).get("hypothesis")
    verdict = lines.verdicts.get(key, {})
    failure = lines.failures.get(key)
    kind = question.question_type + (", abstention" if question.is_abstention else "")
    parts = {
        "type": f"{kind}; asked on {question.question_date}",
        "reference": question.answer,
        "hypothesis": hypothesis if hypothesis is not None else "none",
        "verdict": f"{verdict['verdict']} ({verdict['raw']})" if verdict else "none",
    }
    if failure:
        parts["failure"] = failure["message"]
    listed = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in parts.items())
    return f'<dl class="detail">{listed}</dl>{_ranking(question, lines)}'


def _ranking(question: QuestionDigest, lines: RunLines) -> str:
    line = lines.retrieval.get(question.question_id)
    if line is None:
        return ""
    evidence = set(question.evidence_session_ids)
    items = "".join(
        _ranked(item, is_evidence=item["session_id"] in evidence)
        for item in line["ranked_sessions"][:_RANKED_SHOWN]
    )
    return f"<p>Best sessions ({len(evidence)} hold evidence)</p><ol>{items}</ol>"


def _ranked(item: Mapping[str, Any], *, is_evidence: bool) -> str:
    mark = ' class="evidence"' if is_evidence else ""
    day, name = escape(item["session_date"][:10]), escape(item["session_id"])
    return f"<li{mark}>{day} <code>{name}</code> {item['similarity']:.3f}</li>"
