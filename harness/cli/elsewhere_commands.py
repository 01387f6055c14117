"""`harness questions` and `harness verdicts`: prompts for people and batches, out and back in."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from harness.assistants.endpoint import Endpoint
from harness.cli import groups, options
from harness.cli.output import FAILED_ITEMS, finish, progress
from harness.judges.openai_chat import Correspondence
from harness.lab import batches, elsewhere
from harness.lab.handout import PromptFolder, Replies, read_replies
from harness.pipeline.judging import judge_run, take_hypotheses
from harness.pipeline.replay import ReplayOptions, replay_run
from harness.pipeline.run import Run
from harness.records.run_dir import RunDir
from harness.replay.modes import Approach
from harness.spending import ANSWER_TOKENS, VERDICT_TOKENS, Payee

questions_app = typer.Typer(
    help="Questions answered elsewhere: write the reader's prompts, read the replies.",
    no_args_is_help=True,
)
verdicts_app = typer.Typer(
    help="Verdicts given elsewhere: write a judge's prompts, read the replies.",
    no_args_is_help=True,
)

Prompts = Annotated[
    Path, typer.Option("--prompts", help="The folder of prompts; an unfinished one is continued.")
]
Given = Annotated[
    list[Path] | None,
    typer.Option(
        "--replies",
        help="Replies: a folder of .txt files, or a .jsonl file (default: replies in --prompts). "
        "Can be repeated.",
    ),
]
Wait = Annotated[float, typer.Option(min=0, help="Seconds to wait for batches that run.")]
Pause = Annotated[float, typer.Option(min=0.01, help="Seconds between two looks at them.")]
Hypotheses = Annotated[
    Path | None,
    typer.Option(
        "--hypotheses", help="JSONL file with question_id and hypothesis (default: the run's own)."
    ),
]


def export_questions_command(
    selection: groups.Selection,
    server: groups.Server,
    out: options.OutDir,
    prompts: Prompts,
    listen: options.Listen,
    ingested: options.Ingested = None,
    concurrency: options.Concurrency = 2,
    barrier_timeout: options.BarrierTimeout = 60.0,
    replies: Given = None,
    name: Annotated[
        str | None,
        typer.Option("--reader", help="Name of the model in batch.jsonl, not the assistant's."),
    ] = None,
) -> None:
    """Replay histories, and write every prompt that the assistant's reader would be sent; where a
    reply calls tools, what it is sent after that.
    """
    opened = Run(selection.source, out, progress(), ingested=ingested)
    folder = PromptFolder(prompts)
    if ingested is None:
        replaying = ReplayOptions(False, concurrency, barrier_timeout)
        replay_run(opened, server.endpoint, Approach(), replaying)
    said = read_replies(folder, replies or ()) if folder.ids else Replies()
    failed = elsewhere.export_questions(opened, server.endpoint, listen, folder, said, name)
    print(f"{len(folder.ids)} prompts in {prompts}", file=sys.stderr)
    finish(opened, failed)


def import_questions_command(
    selection: groups.Selection,
    out: options.OutDir,
    prompts: Prompts,
    judging: groups.Judging,
    allowance: groups.Allowance,
    gating: groups.Gating,
    replies: Given = None,
    answer_after: Annotated[
        str | None,
        typer.Option(
            help="Take only what stands behind the last of these words in a reply, such as "
            "'ANSWER:'."
        ),
    ] = None,
) -> None:
    """Read the replies to exported questions, judge them and report."""
    gates, limits = gating.gates, allowance.limits
    judge, second = judging.judges(selection.dataset, out, limits.prices)
    judging.agree_to(judge, second)
    folder = PromptFolder(prompts)
    read = read_replies(folder, replies or ())
    opened = Run(selection.source, out, progress())
    taken = elsewhere.take_answers(opened, folder, read, answer_after)
    print(f"{taken.answered} answered, {taken.missing} missing", file=sys.stderr)
    if taken.searching:
        print(f"{taken.searching} ask for a search: harness questions export", file=sys.stderr)
    _say_failed(read)
    judge_run(opened, judge, judging.plan(second, selection.seed, limits))
    finish(opened, 0, gates)


def export_verdicts_command(
    selection: groups.Selection,
    out: options.OutDir,
    prompts: Prompts,
    judging: groups.Judging,
    allowance: groups.Allowance,
    hypotheses: Hypotheses = None,
) -> None:
    """Write every prompt that a judge would be asked about a run's answers."""
    letters, folder = Correspondence(), PromptFolder(prompts)
    judge, second = judging.judges(selection.dataset, out, allowance.limits.prices, letters)
    judging.agree_to(judge, second)
    elsewhere.require_verdicts(folder, [judge, second])
    opened = Run(selection.source, out, progress())
    if hypotheses is not None:
        take_hypotheses(opened, hypotheses)
    plan = judging.plan(second, selection.seed, allowance.limits)
    waiting = elsewhere.export_verdicts(opened, judge, plan, letters, folder)
    print(f"{waiting} prompts in {prompts} wait for a reply")


def import_verdicts_command(
    selection: groups.Selection,
    out: options.OutDir,
    prompts: Prompts,
    judging: groups.Judging,
    allowance: groups.Allowance,
    gating: groups.Gating,
    replies: Given = None,
) -> None:
    """Read the replies to a judge's exported prompts as its model's, and report."""
    folder = PromptFolder(prompts)
    read = read_replies(folder, replies or ())
    letters = elsewhere.correspondence_of(read)
    judge, second = judging.judges(selection.dataset, out, allowance.limits.prices, letters)
    judging.agree_to(judge, second)
    elsewhere.require_verdicts(folder, [judge, second])
    opened = Run(selection.source, out, progress())
    plan = judging.plan(second, selection.seed, allowance.limits)
    waiting = elsewhere.import_verdicts(opened, judge, plan, letters, folder)
    _say_failed(read)
    print(f"{waiting} prompts in {prompts} wait for a reply", file=sys.stderr)
    finish(opened, 0, gating.gates)


@dataclass(frozen=True)
class Provider:
    """Whose batch API answers, and for how much."""

    batch_url: Annotated[
        str, typer.Option(help="Base URL of the provider's API, such as https://api.openai.com/v1.")
    ]
    batch_api_key: Annotated[
        str | None,
        typer.Option(
            envvar=["HARNESS_BATCH_API_KEY", "OPENAI_API_KEY"],
            help="Key of the provider.",
            show_envvar=True,
        ),
    ] = None
    timeout: options.Timeout = 120.0

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.batch_url, self.batch_api_key, timeout=self.timeout)


def _batch_commands(app: typer.Typer, payee: Payee, reply_tokens: int, asked: str) -> None:
    """Add `submit` and `collect`, for prompts that a batch API answers."""

    def submit(
        out: options.OutDir,
        prompts: Prompts,
        provider: Provider,
        allowance: groups.Allowance,
        dry_run: options.DryRun = False,
    ) -> None:
        _submit(prompts, provider, _payment(out, payee, reply_tokens, allowance), dry_run)

    def collect(
        out: options.OutDir,
        prompts: Prompts,
        provider: Provider,
        allowance: groups.Allowance,
        wait: Wait = 0.0,
        pause: Pause = 30.0,
    ) -> None:
        _collect(prompts, provider, _payment(out, payee, reply_tokens, allowance), wait, pause)

    submit.__doc__ = f"Send {asked} without a reply to a batch API, at half the price."
    collect.__doc__ = f"Fetch the replies to submitted {asked}, for the import."
    app.command("submit")(groups.grouped(submit))
    app.command("collect")(groups.grouped(collect))


def _payment(
    out: Path, payee: Payee, reply_tokens: int, allowance: groups.Allowance
) -> batches.Payment:
    limits = allowance.limits
    return batches.Payment(RunDir(out), payee, reply_tokens, limits.prices.get(payee), limits)


def _submit(path: Path, provider: Provider, payment: batches.Payment, dry_run: bool) -> None:
    folder = batches.BatchFolder(PromptFolder(path))
    forecast = payment.forecast(folder.to_submit().values())
    usd = "price not known" if forecast.usd is None else f"{forecast.usd:.4f} US dollars"
    print(
        f"{forecast.requests} prompts: about {forecast.prompt_tokens:,} tokens, "
        f"{forecast.completion_tokens:,} of replies; {usd}"
    )
    if not dry_run:
        _tell(batches.submit(folder, provider.endpoint, payment))


def _collect(
    path: Path, provider: Provider, payment: batches.Payment, wait: float, pause: float
) -> None:
    folder = batches.BatchFolder(PromptFolder(path))
    standing = batches.collect(folder, provider.endpoint, payment, wait=wait, pause=pause)
    _tell(standing)
    if standing.running or standing.to_submit:
        raise typer.Exit(FAILED_ITEMS)


def _tell(standing: batches.BatchProgress) -> None:
    for problem in standing.problems:
        print(problem, file=sys.stderr)
    print(
        f"{standing.answered} answered, {standing.running} in batches that run, "
        f"{standing.to_submit} to be submitted"
    )


def _say_failed(replies: Replies) -> None:
    for name, problem in replies.failed.items():
        print(f"{name}: no reply: {problem}", file=sys.stderr)


questions_app.command("export")(groups.grouped(export_questions_command))
_batch_commands(questions_app, "assistant", ANSWER_TOKENS, "exported questions")
questions_app.command("import")(groups.grouped(import_questions_command))
verdicts_app.command("export")(groups.grouped(export_verdicts_command))
_batch_commands(verdicts_app, "judge", VERDICT_TOKENS, "exported prompts of a judge")
verdicts_app.command("import")(groups.grouped(import_verdicts_command))
