"""The `harness` command: `run` and its stages, data made anew or built in, and a demonstration.

Exit codes: 0 done, 1 finished with failed items, 2 usage or configuration (also: no assistant
there), 3 finished, but not good enough for a gate.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.assistants.endpoint import Endpoint
from harness.assistants.retry import RetryPolicy
from harness.cli import options
from harness.cli.data_commands import download_command, export_command
from harness.cli.demo import run_demo
from harness.cli.result_commands import compare_command, leaderboard_command
from harness.compilation.compiler import compile_histories, manifest_path
from harness.compilation.history import Recipe
from harness.datasets.registry import sample_json
from harness.datasets.selection import Filters
from harness.errors import HarnessError, RunInterrupted, UsageError
from harness.gates.gates import Gates
from harness.judges.registry import JudgeOptions, make_judge
from harness.replay.modes.choice import Approach
from harness.replay.stage import ReplayOptions
from harness.report.console import print_report, print_tables
from harness.report.forecast_table import dry_run_table
from harness.report.write import write_report
from harness.runs.budget import Limits
from harness.runs.pipeline import JudgePlan, Run, Source
from harness.runs.run_dir import JUDGE_REPLIES, REPORT_HTML, RunDir

FAILED_ITEMS = 1
USAGE = 2
GATE_FAILED = 3
INTERRUPTED = 130

app = typer.Typer(
    help="Replay benchmark histories against an assistant and score its answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def main() -> None:
    """Entry point: every expected trouble becomes one line and exit code 2."""
    try:
        app()
    except HarnessError as error:
        print(f"harness: {error}", file=sys.stderr)
        sys.exit(INTERRUPTED if isinstance(error, RunInterrupted) else USAGE)


@app.command()
def run(
    dataset: options.DatasetName,
    assistant: options.AssistantUrl,
    out: options.OutDir,
    file: options.DataFile = None,
    gold: options.GoldFile = None,
    judge: options.JudgeName = "lexical",
    second_judge: options.SecondJudge = None,
    judge_votes: options.JudgeVotes = 1,
    judge_concurrency: options.JudgeConcurrency = 4,
    judge_cache: options.JudgeCache = None,
    judge_api_key: options.JudgeApiKey = None,
    controls: options.Controls = 20,
    mode: options.Mode = "native",
    types: options.Types = "",
    ids: options.Ids = "",
    per_type: options.PerType = None,
    seed: options.Seed = 0,
    limit: options.Limit = None,
    concurrency: options.Concurrency = 2,
    api_key: options.ApiKey = None,
    model: options.ModelName = "aide-memoire",
    timeout: options.Timeout = 120.0,
    retry_seconds: options.RetrySeconds = 90.0,
    barrier_timeout: options.BarrierTimeout = 60.0,
    forget: options.Forget = False,
    profile: options.ProfileName = "aide-memoire",
    context_tokens: options.ContextTokens = 120_000,
    last_sessions: options.LastSessions = 10,
    probe: options.Probe = True,
    retry_errors: options.RetryErrors = False,
    max_error_rate: options.MaxErrorRate = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    price: options.PriceOption = None,
    fail_under: options.FailUnder = None,
    fail_on_regression: options.FailOnRegression = None,
    junit: options.Junit = None,
    dry_run: options.DryRun = False,
) -> None:
    """Replay, ask, judge and report in one go."""
    gates = Gates.of(fail_under or (), fail_on_regression, junit)
    asking = JudgeOptions(judge_api_key, judge_votes, judge_cache or out / JUDGE_REPLIES)
    chosen_judge = make_judge(judge, asking)
    approach = options.approach(mode, profile, price, context_tokens, last_sessions)
    second = make_judge(second_judge, asking) if second_judge else None
    filters = Filters(options.names(types), options.names(ids), per_type, seed, limit)
    source = Source(dataset, file, filters, gold)
    if dry_run:
        print_tables(_console(), [dry_run_table(source, approach, concurrency)])
        return
    opened = _open(source, out)
    endpoint = Endpoint(assistant, api_key, model, timeout, _retry(retry_seconds))
    replaying = ReplayOptions(
        *(True, concurrency, barrier_timeout, forget, probe, retry_errors, max_error_rate),
        limits=Limits(max_tokens, max_cost),
    )
    failed = opened.replay(endpoint, approach, replaying)
    opened.judge(chosen_judge, JudgePlan(second, controls, seed, judge_concurrency))
    _finish(opened, failed, gates)


@app.command()
def replay(
    dataset: options.DatasetName,
    assistant: options.AssistantUrl,
    out: options.OutDir,
    file: options.DataFile = None,
    gold: options.GoldFile = None,
    mode: options.Mode = "native",
    types: options.Types = "",
    ids: options.Ids = "",
    per_type: options.PerType = None,
    seed: options.Seed = 0,
    limit: options.Limit = None,
    concurrency: options.Concurrency = 2,
    api_key: options.ApiKey = None,
    model: options.ModelName = "aide-memoire",
    timeout: options.Timeout = 120.0,
    retry_seconds: options.RetrySeconds = 90.0,
    barrier_timeout: options.BarrierTimeout = 60.0,
    forget: options.Forget = False,
    profile: options.ProfileName = "aide-memoire",
    context_tokens: options.ContextTokens = 120_000,
    last_sessions: options.LastSessions = 10,
    probe: options.Probe = True,
    retry_errors: options.RetryErrors = False,
    max_error_rate: options.MaxErrorRate = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    price: options.PriceOption = None,
    dry_run: options.DryRun = False,
) -> None:
    """Replay and ask; judging is left for later."""
    approach = options.approach(mode, profile, price, context_tokens, last_sessions)
    filters = Filters(options.names(types), options.names(ids), per_type, seed, limit)
    source = Source(dataset, file, filters, gold)
    if dry_run:
        print_tables(_console(), [dry_run_table(source, approach, concurrency)])
        return
    opened = _open(source, out)
    endpoint = Endpoint(assistant, api_key, model, timeout, _retry(retry_seconds))
    replaying = ReplayOptions(
        *(True, concurrency, barrier_timeout, forget, probe, retry_errors, max_error_rate),
        limits=Limits(max_tokens, max_cost),
    )
    _finish(opened, opened.replay(endpoint, approach, replaying))


@app.command()
def retrieval(
    dataset: options.DatasetName,
    assistant: options.AssistantUrl,
    out: options.OutDir,
    file: options.DataFile = None,
    gold: options.GoldFile = None,
    mode: options.Mode = "native",
    types: options.Types = "",
    ids: options.Ids = "",
    per_type: options.PerType = None,
    seed: options.Seed = 0,
    limit: options.Limit = None,
    concurrency: options.Concurrency = 2,
    api_key: options.ApiKey = None,
    timeout: options.Timeout = 120.0,
    retry_seconds: options.RetrySeconds = 90.0,
    barrier_timeout: options.BarrierTimeout = 60.0,
    forget: options.Forget = False,
) -> None:
    """Ingest and search only: recall figures without any reading."""
    filters = Filters(options.names(types), options.names(ids), per_type, seed, limit)
    opened = _open(Source(dataset, file, filters, gold), out)
    endpoint = Endpoint(assistant, api_key, timeout=timeout, retry=_retry(retry_seconds))
    replaying = ReplayOptions(False, concurrency, barrier_timeout, forget)
    _finish(opened, opened.replay(endpoint, Approach(mode), replaying))


@app.command()
def context(
    dataset: options.DatasetName,
    assistant: options.AssistantUrl,
    out: options.OutDir,
    listen: Annotated[
        int, typer.Option("--listen", min=0, max=65535, help="Port to be the chat model on.")
    ],
    ingested: Annotated[
        Path | None, typer.Option("--ingested", help="The run that brought the histories in.")
    ] = None,
    file: options.DataFile = None,
    types: options.Types = "",
    ids: options.Ids = "",
    per_type: options.PerType = None,
    seed: options.Seed = 0,
    limit: options.Limit = None,
    api_key: options.ApiKey = None,
    model: options.ModelName = "aide-memoire",
    timeout: options.Timeout = 120.0,
    retry_seconds: options.RetrySeconds = 90.0,
) -> None:
    """Listen as the assistant's chat model: is the evidence in the prompts its reader gets?"""
    filters = Filters(options.names(types), options.names(ids), per_type, seed, limit)
    source = Source(dataset, file, filters)
    opened = Run(source, out, _progress_console(), ingested=ingested)
    endpoint = Endpoint(assistant, api_key, model, timeout, _retry(retry_seconds))
    _finish(opened, opened.record_prompts(endpoint, listen))


@app.command()
def judge(
    dataset: options.DatasetName,
    out: options.OutDir,
    hypotheses: Annotated[
        Path, typer.Option("--hypotheses", help="Lines with question_id and hypothesis.")
    ],
    file: options.DataFile = None,
    gold: options.GoldFile = None,
    judge: options.JudgeName = "lexical",
    second_judge: options.SecondJudge = None,
    judge_votes: options.JudgeVotes = 1,
    judge_concurrency: options.JudgeConcurrency = 4,
    judge_cache: options.JudgeCache = None,
    judge_api_key: options.JudgeApiKey = None,
    controls: options.Controls = 20,
    types: options.Types = "",
    ids: options.Ids = "",
    per_type: options.PerType = None,
    seed: options.Seed = 0,
    limit: options.Limit = None,
    fail_under: options.FailUnder = None,
    fail_on_regression: options.FailOnRegression = None,
    junit: options.Junit = None,
) -> None:
    """Judge any system's answers and report."""
    gates = Gates.of(fail_under or (), fail_on_regression, junit)
    asking = JudgeOptions(judge_api_key, judge_votes, judge_cache or out / JUDGE_REPLIES)
    chosen_judge = make_judge(judge, asking)
    second = make_judge(second_judge, asking) if second_judge else None
    filters = Filters(options.names(types), options.names(ids), per_type, seed, limit)
    opened = _open(Source(dataset, file, filters, gold), out)
    opened.take_hypotheses(hypotheses)
    opened.judge(chosen_judge, JudgePlan(second, controls, seed, judge_concurrency))
    _finish(opened, 0, gates)


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    fail_under: options.FailUnder = None,
    fail_on_regression: options.FailOnRegression = None,
    junit: options.Junit = None,
) -> None:
    """Write and print the report of a run directory from its files alone."""
    gates = Gates.of(fail_under or (), fail_on_regression, junit)
    run_dir = RunDir(directory)
    _show(run_dir, write_report(run_dir))
    _require(gates, run_dir)


@app.command()
def sample(
    out: Annotated[Path, typer.Option("--out", help="Where to write it (.json).")],
) -> None:
    """Write the built-in sample set in LongMemEval format."""
    try:
        out.write_text(sample_json(), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {out}: cannot be written ({error.strerror or error})") from error
    print(out)


@app.command("compile")
def compile_command(
    dataset: options.DatasetName,
    out: Annotated[
        Path, typer.Option("--out", help="Where to write: .json or .jsonl, also .gz or .xz.")
    ],
    sessions: Annotated[
        int, typer.Option("--sessions", min=1, help="How many sessions each history has.")
    ],
    file: options.DataFile = None,
    questions: Annotated[
        int | None, typer.Option("--questions", min=1, help="So many questions, drawn with --seed.")
    ] = None,
    types: options.Types = "",
    ids: options.Ids = "",
    per_type: options.PerType = None,
    seed: options.Seed = 0,
    keep_fillers: Annotated[
        bool, typer.Option(help="Keep the fillers a question has, or draw all anew.")
    ] = True,
    lead_days: Annotated[
        int,
        typer.Option("--lead-days", min=0, max=3650, help="Days of history before the evidence."),
    ] = 30,
) -> None:
    """Make new histories of any size from the sessions of a data set."""
    filters = Filters(options.names(types), options.names(ids), per_type, seed)
    recipe = Recipe(sessions, seed, keep_fillers, lead_days)
    source = Source(dataset, file, filters)
    made = compile_histories(source, questions, recipe, out, _progress_console())["counts"]
    tokens = made["tokens_estimate"] / made["questions"]
    print(
        f"{made['questions']} histories, {sessions} sessions and {tokens:,.0f} tokens each: {out}"
    )
    print(f"manifest: {manifest_path(out)}")


@app.command()
def demo(
    out: options.OutDir,
    server: Annotated[
        str, typer.Option("--server", help="The command that starts an assistant server.")
    ] = "assistant serve",
    ready_timeout: Annotated[
        float, typer.Option("--ready-timeout", min=1, help="Seconds until it must be ready.")
    ] = 180.0,
) -> None:
    """Start an assistant, run the sample set against it, show the result, stop it."""
    opened, failed = run_demo(server, out, _progress_console(), ready_seconds=ready_timeout)
    _finish(opened, failed)


app.command("download")(download_command)
app.command("export")(export_command)
app.command("compare")(compare_command)
app.command("leaderboard")(leaderboard_command)


def _open(source: Source, out: Path) -> Run:
    return Run(source, out, _progress_console())


def _finish(opened: Run, failed: int, gates: Gates | None = None) -> None:
    _show(opened.dir, opened.report())
    if failed:
        print(f"{failed} questions failed; the same command tries them again", file=sys.stderr)
    _require(gates or Gates(), opened.dir)
    if failed:
        raise typer.Exit(FAILED_ITEMS)


def _require(gates: Gates, run_dir: RunDir) -> None:
    results = gates.check(run_dir.path)
    for result in results:
        print(f"gate {result}", file=sys.stderr)
    if not all(result.passed for result in results):
        raise typer.Exit(GATE_FAILED)


def _show(run_dir: RunDir, written: dict[str, object]) -> None:
    print_report(_console(), written)
    print(f"report: {run_dir.path / REPORT_HTML}")


def _console() -> Console:
    return Console()


def _progress_console() -> Console:
    # Results go to stdout alone, so that they can be piped.
    return Console(stderr=True)


def _retry(reconnect_seconds: float) -> RetryPolicy:
    return RetryPolicy(reconnect_seconds=reconnect_seconds)
