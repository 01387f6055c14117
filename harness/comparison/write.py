"""Writing a comparison into a folder: JSON, Markdown, HTML."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from harness.comparison.runs import ComparedRun
from harness.comparison.tables import comparison_tables, remarks
from harness.records.digest import QuestionDigest
from harness.records.run_dir import RunDir
from harness.report.page import html_header, html_page, html_table
from harness.report.printing import markdown_page

_MARKS = {"lost": "wrong", "gained": "right"}


def render_comparison(comparison: Mapping[str, Any], runs: Sequence[ComparedRun]) -> str:
    """The whole page."""
    title = "Comparison: " + " · ".join(run.name for run in runs)
    facts = {"questions": str(comparison["questions"]["common"]), "base": runs[0].name}
    said = "".join(f'<p class="remark">{escape(text)}</p>' for text in remarks(comparison))
    tables = [t for t in comparison_tables(comparison) if not t.title.startswith("Flips")]
    flips = (
        _flips(item, runs[0], run)
        for item, run in zip(comparison["comparisons"], runs[1:], strict=True)
        if item["accuracy"]
    )
    parts = [html_header(title, facts), said, *map(html_table, tables), *flips]
    return html_page(title, "\n".join(parts))


def _flips(item: Mapping[str, Any], first: ComparedRun, second: ComparedRun) -> str:
    by_id = {question.question_id: question for question in first.lines.questions}
    shown = [
        _flip(by_id[key], kind, first, second) for kind in _MARKS for key in item["accuracy"][kind]
    ]
    title = f"Flips from {first.name} to {second.name}"
    return f"<section><h2>{escape(title)}</h2>{''.join(shown) or '<p>None.</p>'}</section>"


def _flip(question: QuestionDigest, kind: str, first: ComparedRun, second: ComparedRun) -> str:
    parts = {"type": question.question_type, "reference": question.answer}
    for run in (first, second):
        line = run.lines.hypotheses.get(question.question_id)
        parts[run.name] = line["hypothesis"] if line else "no answer"
    listed = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in parts.items())
    return (
        f'<details><summary><span class="mark {_MARKS[kind]}">{kind}</span>'
        f"<code>{escape(question.question_id)}</code> {escape(question.question)}</summary>"
        f'<dl class="detail">{listed}</dl></details>'
    )


JSON = "compare.json"
MARKDOWN = "compare.md"
HTML = "compare.html"


def write_comparison(out: Path, comparison: Mapping[str, Any], runs: Sequence[ComparedRun]) -> None:
    """Make the folder and replace its three files."""
    folder = RunDir(out)
    folder.create()
    title = "Comparison: " + ", ".join(run.name for run in runs)
    page = markdown_page(title, remarks(comparison), comparison_tables(comparison))
    folder.replace(JSON, json.dumps(comparison, ensure_ascii=False, indent=2) + "\n")
    folder.replace(MARKDOWN, page)
    folder.replace(HTML, render_comparison(comparison, runs))
