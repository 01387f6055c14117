"""The commands that make something of answers that are there: `judge`, `report`, `compare`."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.groups import Allowance, Gating, Judging, Selection, grouped
from harness.cli.output import finish, progress, require, results, show, wide
from harness.comparison.build import COMPARE_HTML, build_comparison, write_comparison
from harness.comparison.runs import load_runs
from harness.comparison.tables import comparison_tables, remarks
from harness.errors import UsageError
from harness.pipeline.dry_run import Planned, judging_dry_run_table
from harness.pipeline.judging import judge_run, take_hypotheses
from harness.pipeline.run import Run
from harness.records.run_dir import RunDir
from harness.report.build import write_report
from harness.report.table import print_tables


@grouped
def judge_command(
    selection: Selection,
    out: options.OutDir,
    hypotheses: Annotated[
        Path, typer.Option("--hypotheses", help="JSONL file with question_id and hypothesis.")
    ],
    judging: Judging,
    allowance: Allowance,
    gating: Gating,
    dry_run: options.DryRun = False,
) -> None:
    """Judge any system's answers and report."""
    gates, limits = gating.gates, allowance.limits
    judge, second = judging.judges(selection.dataset, out, limits.prices)
    plan = judging.plan(second, selection.seed, limits)
    if dry_run:
        planned = Planned(judge, plan)
        print_tables(results(), [judging_dry_run_table(selection.source, hypotheses, planned)])
        return
    judging.agree_to(judge, second)
    opened = Run(selection.source, out, progress())
    take_hypotheses(opened, hypotheses)
    judge_run(opened, judge, plan)
    finish(opened, 0, gates)


@grouped
def report_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    gating: Gating,
) -> None:
    """Write and print the report of a run directory from its files alone."""
    gates, run_dir = gating.gates, RunDir(directory)
    show(run_dir, write_report(run_dir))
    require(gates, run_dir)


def compare_command(
    directories: Annotated[
        list[Path], typer.Argument(metavar="A B [C]...", help="Run directories; A is the base.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for compare.json, .md and .html.")
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare even if data or judge differ.")
    ] = False,
) -> None:
    """Compare runs question by question: differences, how sure they are, and what flipped."""
    if len(directories) < 2:
        raise UsageError("compare needs two run directories or more")
    runs = load_runs(directories)
    comparison = build_comparison(runs, anyway=anyway)
    if out is not None:  # before anything is printed, into a pipe that may be closed early
        write_comparison(out, comparison, runs)
    console = wide()
    for text in remarks(comparison):
        console.print(text, style="yellow", highlight=False, markup=False)
    print_tables(console, comparison_tables(comparison))
    if out is not None:
        console.print(f"comparison: {out / COMPARE_HTML}", highlight=False, soft_wrap=True)
