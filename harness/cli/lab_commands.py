"""Commands of the laboratory that need little: `compile`, `agreement`, `leaderboard`."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.output import progress, wide
from harness.datasets.selection import Filters, QuestionSource
from harness.lab.agreement import STEM as AGREEMENT
from harness.lab.agreement import agreement_tables, agreement_with, write_agreement
from harness.lab.compilation.compiler import compile_histories, manifest_path
from harness.lab.compilation.recipe import Recipe, parse_dates, parse_depth
from harness.lab.leaderboard import (
    STEM,
    leaderboard_tables,
    read_leaderboard,
    write_leaderboard,
)
from harness.report.table import print_tables


def compile_command(
    dataset: options.DatasetName,
    out: Annotated[
        Path, typer.Option("--out", help="Where to write: .json or .jsonl, also .gz or .xz.")
    ],
    sessions: Annotated[
        int | None, typer.Option("--sessions", min=1, help="How many sessions each history has.")
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option("--tokens", min=1, help="Or: tokens in each history, approximately."),
    ] = None,
    file: options.DataFile = None,
    questions: Annotated[
        int | None, typer.Option("--questions", min=1, help="N questions, drawn with --seed.")
    ] = None,
    types: options.Types = "",
    ids: options.Ids = "",
    per_type: options.PerType = None,
    seed: options.Seed = 0,
    keep_fillers: Annotated[
        bool, typer.Option(help="Keep each question's own filler sessions, or draw new ones.")
    ] = True,
    lead_days: Annotated[
        int,
        typer.Option("--lead-days", min=0, max=3650, help="Days of history before the evidence."),
    ] = 30,
    depth: Annotated[
        str | None,
        typer.Option(
            "--depth",
            help="How much of the history comes before the evidence: 0 (first) to 1 (last), "
            "or 'uniform'.",
        ),
    ] = None,
    dates: Annotated[
        str, typer.Option("--dates", help="Dates of the evidence: 'kept' or 'paper'.")
    ] = "kept",
) -> None:
    """Make new histories of any size from the sessions of a data set."""
    filters = Filters(options.names(types), options.names(ids), per_type, seed)
    place, rule = parse_depth(depth), parse_dates(dates)
    recipe = Recipe(sessions, tokens, seed, keep_fillers, lead_days, place, rule)
    source = QuestionSource(dataset, file, filters)
    made = compile_histories(source, questions, recipe, out, progress())["counts"]
    each = made["sessions"] / made["questions"], made["tokens_estimate"] / made["questions"]
    size = f"{each[0]:.4g} sessions and {each[1]:,.0f} tokens each"
    print(f"{made['questions']} histories, {size}: {out}")
    print(f"manifest: {manifest_path(out)}")


def agreement_command(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Judged run directories.")
    ],
    labels: Annotated[
        Path,
        typer.Option(
            "--labels", help="JSONL file with question_id, hypothesis and label.", dir_okay=False
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for agreement.json and .md.")
    ] = None,
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
        Path | None, typer.Option("--out", help="Folder for the leaderboard files (default: DIR).")
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
