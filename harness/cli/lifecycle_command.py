"""`harness lifecycle`: what happens to a memory that is told, changed, corrected and forgotten."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from harness.assistants.endpoint import Endpoint, RetryPolicy
from harness.assistants.profile import load_profile
from harness.cli import options
from harness.cli.output import FAILED_ITEMS, GATE_FAILED, progress, results
from harness.errors import UsageError
from harness.lab.lifecycle.cases import load_cases
from harness.lab.lifecycle.interfaces import ChosenInterface
from harness.lab.lifecycle.report import check, parse_gate, report_tables, write_lifecycle_report
from harness.lab.lifecycle.run import Assistant, CasePace, LifecycleRun, RunningAssistant, started
from harness.records.run_dir import REPORT_HTML, RunDir
from harness.report.table import print_tables
from harness.spending import Limits


def lifecycle_command(
    out: options.OutDir,
    assistant: Annotated[
        str | None, typer.Option("--assistant", help="Base URL of an assistant that is running.")
    ] = None,
    server: Annotated[
        str | None,
        typer.Option("--server", help="Or: the command that starts one; it is restarted, too."),
    ] = None,
    restart: Annotated[
        str | None, typer.Option("--restart", help="The command that restarts --assistant.")
    ] = None,
    ready_timeout: Annotated[
        float, typer.Option("--ready-timeout", min=1, help="Seconds until --server must be ready.")
    ] = 180.0,
    profile: options.ProfileName = "aide-memoire",
    chat_only: Annotated[
        bool,
        typer.Option("--chat-only", help="Chat alone, even where the profile has other routes."),
    ] = False,
    cases: Annotated[
        Path | None,
        typer.Option("--cases", help="A folder of your own cases.", file_okay=False),
    ] = None,
    api_key: options.ApiKey = None,
    model: options.ModelName = "aide-memoire",
    timeout: options.Timeout = 120.0,
    retry_seconds: options.RetrySeconds = 90.0,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=64, help="Cases to put in parallel.")
    ] = 2,
    barrier_timeout: options.BarrierTimeout = 60.0,
    max_tokens: options.MaxTokens = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under",
            metavar="[KIND=]SHARE",
            help="Exit with 3 below this share of right cases; may be repeated.",
        ),
    ] = None,
) -> None:
    """Tell, change, correct, forget and ask: our own dated cases, checked without a model."""
    gates = [parse_gate(text) for text in fail_under or ()]
    approach = ChosenInterface(load_profile(profile), chat_only)
    if (assistant is None) == (server is None) or (restart and server):
        raise UsageError("say either --assistant URL (with or without --restart) or --server CMD")
    run = LifecycleRun(RunDir(out), load_cases(cases), approach, progress())
    retry = RetryPolicy(reconnect_seconds=retry_seconds)
    like = Endpoint(assistant or "http://127.0.0.1", api_key, model, timeout, retry)
    with _assistant(like, server, restart, out, ready_timeout) as there:
        failed = run.put(there, CasePace(concurrency, barrier_timeout, Limits(max_tokens)))
    report = write_lifecycle_report(run)
    print_tables(results(), report_tables(report))
    for failure in report["failures"]:
        faults = [
            f"{ask['question']} – {fault}" for ask in failure["asks"] for fault in ask["faults"]
        ]
        print(f"{failure['case_id']}: {'; '.join(faults) or failure.get('error')}")
    print(f"report: {out / REPORT_HTML}")
    if failed:
        print(f"{failed} cases failed. Run the same command to retry them.", file=sys.stderr)
    found = check(report, gates)
    for result in found:
        print(f"gate {result}", file=sys.stderr)
    if not all(result.passed for result in found):
        raise typer.Exit(GATE_FAILED)
    if failed:
        raise typer.Exit(FAILED_ITEMS)


@contextmanager
def _assistant(
    like: Endpoint, server: str | None, restart: str | None, out: Path, ready_seconds: float
) -> Iterator[Assistant]:
    if server is None:
        yield RunningAssistant(like, restart)
        return
    with (
        tempfile.TemporaryDirectory(prefix="aide-memoire-lifecycle-") as data_dir,
        started(server, Path(data_dir), out, ready_seconds, like) as running,
    ):
        yield running
