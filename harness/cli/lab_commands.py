"""Commands of the laboratory that measure: `agreement`, `leaderboard`, `lifecycle` and
`experiment`.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.assistants.endpoint import Endpoint, RetryPolicy
from harness.assistants.profile import load_profile
from harness.cli import options
from harness.cli.groups import Allowance, Judging, Selection
from harness.cli.output import FAILED_ITEMS, progress, results, tell, wide
from harness.errors import UsageError
from harness.lab.agreement import STEM as AGREEMENT
from harness.lab.agreement import agreement_tables, agreement_with, write_agreement
from harness.lab.experiments import experiment, sheets
from harness.lab.experiments.cells import (
    DESIGNS,
    AtHand,
    Grid,
    grid_of,
    without_answers,
)
from harness.lab.experiments.page import HTML, write_page
from harness.lab.leaderboard import (
    STEM,
    leaderboard_tables,
    read_leaderboard,
    write_leaderboard,
)
from harness.lab.lifecycle.cases import load_cases
from harness.lab.lifecycle.interfaces import ChosenInterface
from harness.lab.lifecycle.report import check, parse_gate, report_tables, write_lifecycle_report
from harness.lab.lifecycle.run import Assistant, CasePace, LifecycleRun, RunningAssistant, started
from harness.lab.load import Load, outcome_table, try_store
from harness.records.run_dir import REPORT_HTML, RunDir
from harness.report.table import print_tables
from harness.spending import SpendingLimits


def agreement_command(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Judged run directories.")
    ],
    labels: Annotated[
        Path,
        typer.Option(help="JSONL file with question_id, hypothesis and label.", dir_okay=False),
    ],
    out: Annotated[Path | None, typer.Option(help="A folder for agreement.json and .md.")] = None,
) -> None:
    """Say how often each judge of these runs agrees with labels: people's, or another judge's."""
    found = agreement_with(labels, directories)
    if out is not None:
        write_agreement(found, out)
    console = wide()
    print_tables(console, agreement_tables(found))
    if out is not None:
        console.print(f"agreement: {out / f'{AGREEMENT}.md'}", highlight=False, soft_wrap=True)


def leaderboard_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with runs under it.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the leaderboard files (default: DIR).")
    ] = None,
) -> None:
    """Rank all runs under a folder, separately for each data set and judge."""
    board = read_leaderboard(folder)
    write_leaderboard(board, out or folder)
    console = wide()
    for reason in board.unread:
        console.print(f"skipped: {reason}", style="yellow", highlight=False, markup=False)
    print_tables(console, leaderboard_tables(board))
    console.print(f"leaderboard: {(out or folder) / f'{STEM}.html'}", soft_wrap=True)


def load_command(
    assistant: Annotated[str, typer.Option(help="Base URL of a store with /add and /search.")],
    api_key: options.ApiKey = None,
    memories: Annotated[int, typer.Option(min=1, help="Memories to be written.")] = 640,
    users: Annotated[int, typer.Option(min=1, help="Users that they are of.")] = 8,
    writers: Annotated[int, typer.Option(min=1, max=256, help="Requests at the same time.")] = 64,
    times: Annotated[int, typer.Option(min=1, max=8, help="How often each request is sent.")] = 2,
    timeout: options.Timeout = 120.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write to a store as leaderboards do, and count what is lost, doubled or leaked."""
    endpoint = Endpoint(assistant, api_key, timeout=timeout)
    outcome = try_store(endpoint, Load(memories, users, writers, times))
    if as_json:
        print(json.dumps(outcome.to_json(), indent=1))
    else:
        print_tables(results(), [outcome_table(outcome)])
    if not outcome.written:
        print("Nothing was written: the store refused every memory.", file=sys.stderr)
    if not outcome.is_sound:
        raise typer.Exit(FAILED_ITEMS)


def lifecycle_command(
    out: options.OutDir,
    assistant: Annotated[
        str | None, typer.Option(help="Base URL of an assistant that is running.")
    ] = None,
    server: Annotated[
        str | None, typer.Option(help="Or: the command that starts one; it is restarted, too.")
    ] = None,
    restart: Annotated[
        str | None, typer.Option(help="The command that restarts --assistant.")
    ] = None,
    ready_timeout: Annotated[
        float, typer.Option(min=1, help="Seconds until --server must be ready.")
    ] = 180.0,
    profile: options.ProfileName = "aide-memoire",
    chat_only: Annotated[
        bool,
        typer.Option("--chat-only", help="Chat alone, even where the profile has other routes."),
    ] = False,
    cases: Annotated[
        Path | None, typer.Option(help="A folder of your own cases.", file_okay=False)
    ] = None,
    api_key: options.ApiKey = None,
    model: options.ModelName = "aide-memoire",
    timeout: options.Timeout = 120.0,
    retry_seconds: options.RetrySeconds = 90.0,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Cases to put in parallel.")] = 2,
    barrier_timeout: options.BarrierTimeout = 60.0,
    max_tokens: options.MaxTokens = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
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
        failed = run.put(there, CasePace(concurrency, barrier_timeout, SpendingLimits(max_tokens)))
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
    tell(check(report, gates))
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


def experiment_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="table2, table3, table4, fig3, fig5 or fig6.")
    ],
    selection: Selection,
    out: Annotated[
        Path, typer.Option(help="A folder; an unfinished experiment in it is continued.")
    ],
    judging: Judging,
    allowance: Allowance,
    designs: Annotated[
        str, typer.Option(help=f"Only these designs (table2): {', '.join(DESIGNS)}.")
    ] = "",
    reader: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL@URL",
            help="The language model that answers. Without one the assistant quotes.",
        ),
    ] = None,
    strong: Annotated[
        str | None,
        typer.Option("--query-model", metavar="MODEL@URL", help="Reads time ranges, too (table4)."),
    ] = None,
    weak: Annotated[
        str | None,
        typer.Option("--weak-query-model", metavar="MODEL@URL", help="The same by a weaker model."),
    ] = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            "--extract-model", metavar="MODEL@URL", help="Extracts facts, phrases and summaries."
        ),
    ] = None,
    model_key: Annotated[
        str | None, typer.Option(envvar="HARNESS_MODEL_KEY", help="The key of these models.")
    ] = None,
    from_memory: Annotated[
        bool,
        typer.Option("--from-memory", help="Prompts of what memory finds, not of evidence (fig6)."),
    ] = False,
    no_answers: Annotated[
        bool,
        typer.Option("--no-answers", help="Only what is found, and what reaches the reader."),
    ] = False,
    memory: Annotated[
        Path | None,
        typer.Option(
            help="The folder of an earlier experiment, whose memory is used.", file_okay=False
        ),
    ] = None,
    server: Annotated[
        str, typer.Option(help="The command that starts an assistant.")
    ] = "assistant serve",
    ready_timeout: Annotated[
        float, typer.Option(min=1, help="Seconds until it must be ready.")
    ] = 180.0,
    concurrency: options.Concurrency = 2,
    context_tokens: options.ContextTokens = 120_000,
) -> None:
    """Repeat an experiment of LongMemEval: every cell on a server of its own over one memory."""
    chosen = options.names(designs) or DESIGNS
    ranges = {
        said: dict(experiment.ReadingModel.parse(model, model_key).settings("query_model"))
        for said, model in (("strong model", strong), ("weak model", weak))
        if model
    }
    if designs and name != "table2":
        raise UsageError("--designs is for table2")
    if from_memory and name != "fig6":
        raise UsageError("--from-memory is for fig6")
    grid = grid_of(name, AtHand(chosen, reader is not None, from_memory, ranges))
    if no_answers:
        grid = without_answers(grid)
    judge, _ = judging.judges(selection.dataset, out, allowance.limits.prices)
    laboratory = experiment.Laboratory(
        out,
        selection.source,
        progress(),
        judge,
        server=server,
        reader=experiment.ReadingModel.parse(reader, model_key) if reader else None,
        ready_seconds=ready_timeout,
        concurrency=concurrency,
        context_tokens=context_tokens,
        shared=_extracting(extractor, model_key),
        filled=memory,
    )
    try:
        if name == "fig3":
            grid = _with_online(laboratory, grid)
        failed = experiment.run_experiment(laboratory, grid)
    finally:
        if laboratory.out.exists():
            tables = write_page(laboratory, grid)
    console = results()
    print_tables(console, tables)
    console.print(f"experiment: {out / HTML}", highlight=False, soft_wrap=True)
    if failed:
        raise typer.Exit(FAILED_ITEMS)


def _with_online(laboratory: experiment.Laboratory, grid: Grid) -> Grid:
    """Write the sheets for people; return the grid, with what they wrote down, if anything."""
    written = sheets.write_sheets(laboratory)
    if written:
        laboratory.console.print(
            f"{written} sheets to type into a web chat: {laboratory.out / 'sheets'}",
            highlight=False,
            soft_wrap=True,
        )
    is_answered = sheets.judge_answers(laboratory)
    if not (written or grid.cells):
        raise UsageError(
            "fig3 lets a language model read whole histories (--reader MODEL@URL), or people type "
            "short ones into a web chat: harness compile --sessions 5 makes such"
        )
    return replace(grid, cells=(*grid.cells, sheets.ONLINE)) if is_answered else grid


def _extracting(extractor: str | None, key: str | None) -> dict[str, str]:
    if extractor is None:
        return {}
    asked = {"enrichment.keyphrases": "true", "enrichment.summaries": "true"}
    return experiment.ReadingModel.parse(extractor, key).settings("extract_model") | asked
