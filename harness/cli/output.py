"""How commands speak and end: results on stdout, all else on stderr, and the exit codes.

0 done, 1 finished with failed items, 2 usage or configuration (also: no assistant there), 3
finished, but not good enough for a gate.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from harness.comparison.build import COMPARE_HTML, build_comparison, write_comparison
from harness.comparison.gates import GateResult, Gates
from harness.comparison.runs import load_runs
from harness.comparison.tables import repeats_tables
from harness.errors import UsageError
from harness.pipeline.run import Run
from harness.records.run_dir import MANIFEST, REPORT_HTML, RunDir
from harness.report.schema import Report
from harness.report.table import print_tables
from harness.report.tables import print_report

FAILED_ITEMS = 1
USAGE = 2
GATE_FAILED = 3
INTERRUPTED = 130
# Columns of a table that is not shown on a terminal.
_WIDTH = 150


def results() -> Console:
    """Where results go: stdout, which can be piped."""
    return Console()


def wide() -> Console:
    """Where wide tables go: into a file or pipe they keep their columns."""
    return Console(width=None if sys.stdout.isatty() else _WIDTH)


def progress() -> Console:
    """Where everything else goes: stderr."""
    return Console(stderr=True)


def finish(opened: Run, failed: int, gates: Gates | None = None) -> None:
    """Write and show the report, check the gates, and end with the exit code that follows."""
    show(opened.dir, opened.report())
    _end(failed, gates or Gates(), [opened.dir])


def _end(failed: int, gates: Gates, runs: Sequence[RunDir]) -> None:
    if failed:
        print(f"{failed} questions failed. Run the same command to retry them.", file=sys.stderr)
    for run_dir in runs:
        require(gates, run_dir)
    if failed:
        raise typer.Exit(FAILED_ITEMS)


def require(gates: Gates, run_dir: RunDir) -> None:
    """Check every gate; a failed one ends the command."""
    tell(gates.check(run_dir.path))


def tell(found: Sequence[GateResult]) -> None:
    """Say how each gate went; a failed one ends the command."""
    for result in found:
        print(f"gate {result}", file=sys.stderr)
    if not all(result.passed for result in found):
        raise typer.Exit(GATE_FAILED)


def show(run_dir: RunDir, written: Report) -> None:
    print_report(results(), written)
    print(f"report: {run_dir.path / REPORT_HTML}")


def agreed_to(caution: str) -> None:
    """Go on only if a person says yes; raises `UsageError` for a no, and where nobody is there."""
    if not sys.stdin.isatty():
        raise UsageError(f"{caution}. Nobody can be asked here: --judge-anyway says yes beforehand")
    try:
        agrees = typer.confirm(f"{caution}. Judge with it all the same?", err=True)
    except typer.Abort:
        agrees = False
    if not agrees:
        raise UsageError("nothing was judged")


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
    print(f"comparison: {out / COMPARE_HTML}")
    _end(failed, gates, list(map(RunDir, folders)))
