"""The commands of runs: those that make one with an assistant, and `judge`, `report`, `compare`,
which make something of answers that are there.
"""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from harness.assistants.endpoint import LOG, Endpoint, own_server
from harness.assistants.profile import load_profile
from harness.cli import groups, options, output
from harness.comparison.build import COMPARE_HTML, build_comparison, write_comparison
from harness.comparison.coverage import covered_questions_table
from harness.comparison.runs import load_runs
from harness.comparison.tables import comparison_tables, remarks
from harness.datasets.selection import Filters, QuestionSource
from harness.errors import UsageError
from harness.judges.lexical import LexicalJudge
from harness.pipeline.dry_run import Planned, dry_run_table, judging_dry_run_table
from harness.pipeline.judging import judge_run, take_hypotheses
from harness.pipeline.prompts import record_prompts
from harness.pipeline.replay import ReplayOptions, replay_run
from harness.pipeline.run import Run
from harness.records.manifest import load_manifest
from harness.records.plan import read_plan
from harness.records.run_dir import RunDir
from harness.replay.modes import Approach
from harness.report.build import keep_dossier, write_report
from harness.report.table import print_tables


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


def run_command(
    selection: groups.Selection,
    server: groups.Server,
    out: options.OutDir,
    manner: groups.Manner,
    replaying: groups.Replaying,
    allowance: groups.Allowance,
    judging: groups.Judging,
    gating: groups.Gating,
    plan: options.Plan = None,
    repeat: options.Repeat = 1,
    dry_run: options.DryRun = False,
) -> None:
    """Replay, ask, judge and report in one go."""
    gates, source, limits = gating.gates, selection.source, allowance.limits
    approach = manner.approach(limits.prices.get("assistant"))
    endpoint = server.endpoint_for(approach)
    folders = output.repeat_folders(out, repeat)
    if repeat > 1 and gates.junit is not None:
        raise UsageError(
            "--junit does not work with --repeat. Use: harness report DIR --junit FILE"
        )
    judge, second = judging.judges(selection.dataset, out, limits.prices)
    if dry_run:
        planned = Planned(judge, judging.plan(second, selection.seed, limits), repeat)
        print_tables(
            output.results(), [dry_run_table(source, approach, replaying.concurrency, planned)]
        )
        return
    judging.agree_to(judge, second)
    replayed = replaying.replay_options(limits)
    failed = 0
    for folder in folders:
        judge, second = judging.judges(selection.dataset, folder, limits.prices)
        others = [other for other in folders if other != folder]
        opened = Run(source, folder, output.progress(), beside=others, plan=plan)
        failed += replay_run(opened, endpoint, approach, replayed, [judge, second])
        judge_run(opened, judge, judging.plan(second, selection.seed, limits))
        if repeat == 1:
            output.finish(opened, failed, gates)
        else:
            opened.report()
    if repeat > 1:
        output.finish_repeats(folders, out, failed, gates)


def replay_command(
    selection: groups.Selection,
    server: groups.Server,
    out: options.OutDir,
    manner: groups.Manner,
    replaying: groups.Replaying,
    allowance: groups.Allowance,
    plan: options.Plan = None,
    dry_run: options.DryRun = False,
) -> None:
    """Replay and ask; judging is left for later."""
    source, limits = selection.source, allowance.limits
    approach = manner.approach(limits.prices.get("assistant"))
    endpoint = server.endpoint_for(approach)
    if dry_run:
        print_tables(output.results(), [dry_run_table(source, approach, replaying.concurrency)])
        return
    opened = Run(source, out, output.progress(), plan=plan)
    output.finish(opened, replay_run(opened, endpoint, approach, replaying.replay_options(limits)))


def retrieval_command(
    selection: groups.Selection,
    server: groups.Server,
    out: options.OutDir,
    mode: options.Mode = "native",
    concurrency: options.Concurrency = 2,
    barrier_timeout: options.BarrierTimeout = 60.0,
    forget: options.Forget = False,
    keep: options.Keep = False,
    send: options.Send = "turn",
    plan: options.Plan = None,
    profile: options.ProfileName = "aide-memoire",
) -> None:
    """Replay histories and search, without asking questions."""
    opened = Run(selection.source, out, output.progress(), plan=plan)
    replaying = ReplayOptions(False, concurrency, barrier_timeout, options.forgetting(forget, keep))
    approach = Approach(mode, load_profile(profile), together=send)
    output.finish(opened, replay_run(opened, server.endpoint, approach, replaying))


def context_command(
    selection: groups.Selection,
    server: groups.Server,
    out: options.OutDir,
    listen: options.Listen,
    ingested: options.Ingested = None,
    profile: options.ProfileName = "aide-memoire",
    plan: options.Plan = None,
) -> None:
    """Check whether the evidence reaches the prompt, by acting as the assistant's chat model."""
    known = load_profile(profile)
    opened = Run(selection.source, out, output.progress(), ingested=ingested, plan=plan)
    output.finish(opened, record_prompts(opened, server.endpoint, listen, known, ingested))


def demo_command(
    out: options.OutDir,
    server: Annotated[
        str, typer.Option(help="The command that starts an assistant server.")
    ] = "assistant serve",
    ready_timeout: Annotated[
        float, typer.Option(min=1, help="Seconds until it must be ready.")
    ] = 180.0,
) -> None:
    """Start an assistant, run the sample set against it, show the result, stop it."""
    run_dir, log, console = RunDir(out), out / LOG, output.progress()
    run_dir.create()
    _clear(run_dir)
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="aide-memoire-demo-") as data_dir:
        console.print(f"starting {server!r}, its log is {log}", highlight=False)
        with own_server(server, Path(data_dir), log, ready_timeout) as url:
            opened = Run(QuestionSource("sample", None, Filters()), out, console)
            failed = replay_run(opened, Endpoint(url), Approach(), ReplayOptions())
        judge_run(opened, LexicalJudge())
    output.finish(opened, failed)


def judge_command(
    selection: groups.Selection,
    out: options.OutDir,
    hypotheses: Annotated[Path, typer.Option(help="JSONL file with question_id and hypothesis.")],
    judging: groups.Judging,
    allowance: groups.Allowance,
    gating: groups.Gating,
    plan: options.Plan = None,
    dry_run: options.DryRun = False,
) -> None:
    """Judge any system's answers and report."""
    gates, limits = gating.gates, allowance.limits
    judge, second = judging.judges(selection.dataset, out, limits.prices)
    judge_plan = judging.plan(second, selection.seed, limits)
    if dry_run:
        planned = Planned(judge, judge_plan)
        print_tables(
            output.results(), [judging_dry_run_table(selection.source, hypotheses, planned)]
        )
        return
    judging.agree_to(judge, second)
    opened = Run(selection.source, out, output.progress(), plan=plan)
    take_hypotheses(opened, hypotheses)
    judge_run(opened, judge, judge_plan)
    output.finish(opened, 0, gates)


def report_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    gating: groups.Gating,
    dossier: Annotated[
        Path | None,
        typer.Option(
            help="A file of faulty references, without which scores are given as well.",
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Write and print the report of a run directory from its files alone."""
    gates, run_dir = gating.gates, RunDir(directory)
    if dossier is not None:
        keep_dossier(run_dir, dossier)
    output.show(run_dir, write_report(run_dir))
    output.require(gates, run_dir)


def compare_command(
    directories: Annotated[
        list[Path], typer.Argument(metavar="A B [C]...", help="Run directories; A is the base.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="A folder for compare.json, .md and .html.")
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare even if data or judge differ.")
    ] = False,
    plan: options.Plan = None,
    coverage: Annotated[
        bool,
        typer.Option("--coverage", help="Show each piece of evidence that only one run had."),
    ] = False,
) -> None:
    """Compare runs question by question: differences, how sure they are, and what flipped."""
    if len(directories) < 2:
        raise UsageError("compare needs two run directories or more")
    runs = load_runs(directories)
    kept = read_plan(plan) if plan else None
    comparison = build_comparison(runs, anyway=anyway, plan=kept)
    if out is not None:  # before anything is printed, into a pipe that may be closed early
        write_comparison(out, comparison, runs)
    console = output.wide()
    for text in remarks(comparison):
        console.print(text, style="yellow", highlight=False, markup=False)
    print_tables(console, comparison_tables(comparison))
    if coverage:
        compared = comparison["comparisons"]
        shown = (covered_questions_table(one, is_detail=False) for one in compared)
        print_tables(console, [table for table in shown if table.rows])
    if out is not None:
        console.print(f"comparison: {out / COMPARE_HTML}", highlight=False, soft_wrap=True)
