"""Writing a comparison into a folder: JSON, Markdown, HTML."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.comparison.html import render_comparison
from harness.comparison.runs import ComparedRun
from harness.comparison.tables import comparison_tables, remarks
from harness.records.run_dir import RunDir
from harness.report.markdown import markdown_page

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
