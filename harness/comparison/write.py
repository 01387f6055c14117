"""Writing a comparison into a folder: JSON, Markdown, HTML."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.comparison.runs import ComparedRun
from harness.comparison.tables import comparison_tables, remarks
from harness.records.run_dir import RunDir
from harness.report.pages import render_page
from harness.report.printing import markdown_page

_MARKS = {"lost": "wrong", "gained": "right"}


JSON = "compare.json"
MARKDOWN = "compare.md"
HTML = "compare.html"


@dataclass(frozen=True, slots=True)
class Flip:
    """A question whose verdict differs between two runs; `kind` is lost or gained."""

    question_id: str
    question: str
    kind: str
    mark: str
    facts: Mapping[str, str]


def write_comparison(out: Path, comparison: Mapping[str, Any], runs: Sequence[ComparedRun]) -> None:
    """Make the folder and replace its three files."""
    folder = RunDir(out)
    folder.create()
    title = "Comparison: " + ", ".join(run.name for run in runs)
    page = markdown_page(title, remarks(comparison), comparison_tables(comparison))
    folder.replace(JSON, json.dumps(comparison, ensure_ascii=False, indent=2) + "\n")
    folder.replace(MARKDOWN, page)
    folder.replace(HTML, render_comparison(comparison, runs))


def render_comparison(comparison: Mapping[str, Any], runs: Sequence[ComparedRun]) -> str:
    """The whole page: tables, then every flipped question with both answers."""
    flips = [
        {
            "title": f"Flips from {runs[0].name} to {run.name}",
            "flips": list(_flips(item["accuracy"], runs[0], run)),
        }
        for item, run in zip(comparison["comparisons"], runs[1:], strict=True)
        if item["accuracy"]
    ]
    return render_page(
        "comparison.html",
        package="harness.comparison",
        title="Comparison: " + " · ".join(run.name for run in runs),
        facts={"questions": str(comparison["questions"]["common"]), "base": runs[0].name},
        remarks=remarks(comparison),
        tables=[t for t in comparison_tables(comparison) if not t.title.startswith("Flips")],
        flips=flips,
    )


def _flips(accuracy: Mapping[str, Any], first: ComparedRun, second: ComparedRun) -> Iterator[Flip]:
    by_id = {question.question_id: question for question in first.lines.questions}
    for kind, mark in _MARKS.items():
        for key in accuracy[kind]:
            question = by_id[key]
            facts = {"type": question.question_type, "reference": question.answer}
            for run in (first, second):
                line = run.lines.hypotheses.get(key)
                facts[run.name] = line["hypothesis"] if line else "no answer"
            yield Flip(key, question.question, kind, mark, facts)
