"""`--repeat N`: the same run N times over, each in a folder of its own, and how far they wander."""

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from harness.cli.output import FAILED_ITEMS, require, results
from harness.comparison.build import build_comparison
from harness.comparison.runs import load_runs
from harness.comparison.tables import repeats_tables
from harness.comparison.write import HTML, write_comparison
from harness.errors import UsageError
from harness.gates.gates import Gates
from harness.records.run_dir import MANIFEST, REPORT_HTML, RunDir
from harness.report.console import print_tables


def repeat_folders(out: Path, repeats: int) -> list[Path]:
    """Where each of the runs goes: `out` itself for one alone, else `1`, `2` … in it."""
    if repeats == 1:
        return [out]
    if (out / MANIFEST).exists():
        raise UsageError(f"--out {out} holds a single run: choose another folder for --repeat")
    return [out / str(number) for number in range(1, repeats + 1)]


def finish_repeats(folders: Sequence[Path], out: Path, failed: int, gates: Gates) -> None:
    """Write and show the comparison of all repeats, hold each against the gates, and end."""
    runs = load_runs(folders)
    comparison = build_comparison(runs)
    write_comparison(out, comparison, runs)
    print_tables(results(), repeats_tables(comparison))
    for folder in folders:
        print(f"report: {folder / REPORT_HTML}")
    print(f"comparison: {out / HTML}")
    if failed:
        print(f"{failed} questions failed; the same command tries them again", file=sys.stderr)
    for folder in folders:
        require(gates, RunDir(folder))
    if failed:
        raise typer.Exit(FAILED_ITEMS)
