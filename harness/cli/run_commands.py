"""The commands that put questions to an assistant: `run` and its stages, and a demonstration."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.assistants.endpoint import Endpoint
from harness.assistants.own_server import LOG, own_server
from harness.assistants.profile import load_profile
from harness.cli import options
from harness.cli.groups import (
    Allowance,
    Gating,
    Judging,
    Manner,
    Replaying,
    Selection,
    Server,
    grouped,
)
from harness.cli.output import finish, finish_repeats, progress, repeat_folders, results
from harness.datasets.selection import Filters, QuestionSource
from harness.errors import UsageError
from harness.judges.lexical import LexicalJudge
from harness.pipeline.dry_run import Planned, dry_run_table
from harness.pipeline.histories import ReplayOptions
from harness.pipeline.judging import judge_run
from harness.pipeline.prompts import record_prompts
from harness.pipeline.replay import replay_run
from harness.pipeline.run import Run
from harness.records.manifest import load_manifest
from harness.records.run_dir import RunDir
from harness.replay.modes import Approach
from harness.report.table import print_tables


def run_demo(command: str, out: Path, console: Console, *, ready_seconds: float) -> tuple[Run, int]:
    """Replay and judge the sample on a server of our own; returns the run and its failed count."""
    run_dir = RunDir(out)
    run_dir.create()
    _clear(run_dir)
    log = out / LOG
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="aide-memoire-demo-") as data_dir:
        console.print(f"starting {command!r}, its log is {log}", highlight=False)
        with own_server(command, Path(data_dir), log, ready_seconds) as url:
            opened = Run(QuestionSource("sample", None, Filters()), out, console)
            failed = replay_run(opened, Endpoint(url), Approach(), ReplayOptions())
        judge_run(opened, LexicalJudge())
    return opened, failed


def _clear(run_dir: RunDir) -> None:
    """Remove an earlier demonstration: its memories are gone, there is nothing to continue."""
    manifest = load_manifest(run_dir)
    if manifest is None:
        return
    if manifest.data["dataset"]["name"] != "sample":
        raise UsageError(f"--out {run_dir.path} holds another run: choose another folder")
    for path in run_dir.path.iterdir():
        if path.suffix in (".json", ".jsonl"):
            path.unlink()


@grouped
def run_command(
    selection: Selection,
    server: Server,
    out: options.OutDir,
    manner: Manner,
    replaying: Replaying,
    allowance: Allowance,
    judging: Judging,
    gating: Gating,
    repeat: options.Repeat = 1,
    dry_run: options.DryRun = False,
) -> None:
    """Replay, ask, judge and report in one go."""
    gates, source, limits = gating.gates, selection.source, allowance.limits
    approach = manner.approach(limits.prices.get("assistant"))
    folders = repeat_folders(out, repeat)
    if repeat > 1 and gates.junit is not None:
        raise UsageError(
            "--junit does not work with --repeat. Use: harness report DIR --junit FILE"
        )
    judge, second = judging.judges(selection.dataset, out, limits.prices)
    if dry_run:
        planned = Planned(judge, judging.plan(second, selection.seed, limits), repeat)
        print_tables(results(), [dry_run_table(source, approach, replaying.concurrency, planned)])
        return
    judging.agree_to(judge, second)
    replayed = replaying.replay_options(limits)
    failed = 0
    for folder in folders:
        judge, second = judging.judges(selection.dataset, folder, limits.prices)
        opened = Run(source, folder, progress(), beside=[f for f in folders if f != folder])
        failed += replay_run(opened, server.endpoint, approach, replayed, [judge, second])
        judge_run(opened, judge, judging.plan(second, selection.seed, limits))
        if repeat == 1:
            finish(opened, failed, gates)
        else:
            opened.report()
    if repeat > 1:
        finish_repeats(folders, out, failed, gates)


@grouped
def replay_command(
    selection: Selection,
    server: Server,
    out: options.OutDir,
    manner: Manner,
    replaying: Replaying,
    allowance: Allowance,
    dry_run: options.DryRun = False,
) -> None:
    """Replay and ask; judging is left for later."""
    source, limits = selection.source, allowance.limits
    approach = manner.approach(limits.prices.get("assistant"))
    if dry_run:
        print_tables(results(), [dry_run_table(source, approach, replaying.concurrency)])
        return
    opened = Run(source, out, progress())
    finish(opened, replay_run(opened, server.endpoint, approach, replaying.replay_options(limits)))


@grouped
def retrieval_command(
    selection: Selection,
    server: Server,
    out: options.OutDir,
    mode: options.Mode = "native",
    concurrency: options.Concurrency = 2,
    barrier_timeout: options.BarrierTimeout = 60.0,
    forget: options.Forget = False,
    send: options.Send = "turn",
) -> None:
    """Replay histories and search, without asking questions."""
    opened = Run(selection.source, out, progress())
    replaying = ReplayOptions(False, concurrency, barrier_timeout, forget)
    finish(opened, replay_run(opened, server.endpoint, Approach(mode, together=send), replaying))


@grouped
def context_command(
    selection: Selection,
    server: Server,
    out: options.OutDir,
    listen: Annotated[
        int,
        typer.Option(
            "--listen", min=0, max=65535, help="Port on which the harness acts as the chat model."
        ),
    ],
    ingested: Annotated[
        Path | None,
        typer.Option("--ingested", help="Run directory whose histories the assistant holds."),
    ] = None,
    profile: options.ProfileName = "aide-memoire",
) -> None:
    """Check whether the evidence reaches the prompt, by acting as the assistant's chat model."""
    known = load_profile(profile)
    opened = Run(selection.source, out, progress(), ingested=ingested)
    finish(opened, record_prompts(opened, server.endpoint, listen, known, ingested))


def demo_command(
    out: options.OutDir,
    server: Annotated[
        str, typer.Option("--server", help="The command that starts an assistant server.")
    ] = "assistant serve",
    ready_timeout: Annotated[
        float, typer.Option("--ready-timeout", min=1, help="Seconds until it must be ready.")
    ] = 180.0,
) -> None:
    """Start an assistant, run the sample set against it, show the result, stop it."""
    opened, failed = run_demo(server, out, progress(), ready_seconds=ready_timeout)
    finish(opened, failed)
