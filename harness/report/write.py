"""Writing the faces of a report into its run directory."""

import json
from typing import Any

from harness.errors import UsageError
from harness.records.lines import read_run
from harness.records.manifest import load_manifest
from harness.records.run_dir import QUESTIONS_CSV, REPORT_HTML, REPORT_JSON, REPORT_MARKDOWN, RunDir
from harness.report.build import build_report
from harness.report.html import render_html
from harness.report.markdown import render_markdown
from harness.report.rows import rows_csv


def write_report(run_dir: RunDir) -> dict[str, Any]:
    """Build the report from the directory's files alone, replace its faces, and return it."""
    manifest = load_manifest(run_dir)
    if manifest is None:
        raise UsageError(f"{run_dir.path}: no run here (no manifest.json)")
    lines = read_run(run_dir, asks=manifest.asks)
    report = build_report(lines, manifest)
    run_dir.replace(REPORT_JSON, json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    run_dir.replace(REPORT_MARKDOWN, render_markdown(report, lines.failures))
    run_dir.replace(REPORT_HTML, render_html(report, lines))
    run_dir.replace(QUESTIONS_CSV, rows_csv(lines))
    return report
