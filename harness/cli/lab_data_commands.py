"""Commands of the laboratory that make data: `author`, fresh questions and the sheet on which
people decide about them; `compile`, new histories.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli import options
from harness.cli.output import FAILED_ITEMS, progress, results
from harness.datasets.selection import Filters, QuestionSource
from harness.errors import UsageError
from harness.lab.authoring import stage
from harness.lab.authoring.draft import Author
from harness.lab.authoring.model_author import AuthorModel, ModelAuthor, forecast
from harness.lab.authoring.plan import TYPES, ontology, plan_items
from harness.lab.authoring.template_author import TemplateAuthor
from harness.lab.compilation.compiler import compile_histories, manifest_path
from harness.lab.compilation.recipe import Recipe, parse_dates, parse_depth
from harness.records.run_dir import RunDir
from harness.report.table import print_tables
from harness.spending import SpendingLimits

author_app = typer.Typer(
    help="Write fresh questions with their histories, by templates or with a model.",
    invoke_without_command=True,
)


@author_app.callback()
def author_command(
    context: typer.Context,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the questions and all steps; continued if begun.")
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Write by templates, without a model.")
    ] = False,
    model: Annotated[str | None, typer.Option(help="Or with a model: MODEL@BASE_URL.")] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            envvar=["HARNESS_AUTHOR_API_KEY", "OPENAI_API_KEY"],
            help="Key of the model.",
            show_envvar=True,
        ),
    ] = None,
    per_type: Annotated[int, typer.Option(min=1, help="Questions of each type.")] = 10,
    types: Annotated[
        str, typer.Option(help=f"Only these types, by commas: {', '.join(TYPES)}.")
    ] = "",
    sessions: Annotated[int, typer.Option(min=1, help="How many sessions each history has.")] = 48,
    pool: Annotated[
        Path | None,
        typer.Option(
            help="Take fillers from a file: LongMemEval, or shaped as ShareGPT or UltraChat.",
            dir_okay=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    only_accepted: Annotated[
        bool, typer.Option("--only-accepted", help="Write only what a person accepted.")
    ] = False,
    concurrency: Annotated[
        int, typer.Option(min=1, max=64, help="Questions written in parallel.")
    ] = 4,
    price: Annotated[
        str | None, typer.Option(help="US dollars per million tokens: PROMPT/COMPLETION.")
    ] = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count calls, tokens and price; send nothing.")
    ] = False,
) -> None:
    """Write fresh questions with their histories in LongMemEval's format."""
    if context.invoked_subcommand is not None:
        return
    if out is None:
        raise UsageError("author needs --out, or: harness author review DIR")
    if template == (model is not None):
        raise UsageError("either --template or --model says who writes")
    known, chosen_types = ontology(), options.names(types)
    items = plan_items(known, chosen_types, per_type, seed)
    dollars = None if price is None else options.price(price, "--price")
    paid = None if model is None else AuthorModel.parse(model, api_key, dollars)
    if paid is not None:
        print_tables(results(), [forecast(items, paid.price)])
    elif dry_run:
        print(f"{len(items)} questions by templates: no call, no cost")
    if dry_run:
        return
    settings: dict[str, Any] = {
        "format": 1,
        "seed": seed,
        "per_type": per_type,
        "types": list(chosen_types or TYPES),
        "ontology": known.sha256,
        "author": "template" if paid is None else paid.identity,
    }
    folder = RunDir(out)
    stage.open_folder(folder, settings)
    with folder.owned():
        author: Author = (
            TemplateAuthor(known)
            if paid is None
            else ModelAuthor(folder, paid, SpendingLimits(max_tokens, max_cost))
        )
        written = stage.write_items(author, items, concurrency)
        stage.keep_steps(folder, written)
        chosen = stage.finish(
            folder, written, known, stage.HistoryPlan(sessions, pool, only_accepted), seed
        )
    _conclude(folder, written, len(chosen))


@author_app.command("review")
def review_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of author --out.")],
) -> None:
    """Decide about each question: accept, edit or reject it. Then run author again."""
    folder = RunDir(directory)
    decided, left = stage.review(folder, _typed, print)
    print(f"{decided} decided, {left} left")


def _typed(prompt: str) -> str:
    """A line from the terminal; its end means quit."""
    try:
        return input(prompt)
    except EOFError:
        return "q"


def _conclude(folder: RunDir, written: Sequence[stage.WrittenItem], count: int) -> None:
    """Say what became of all items; with refused ones the command has failed in part."""
    counts = Counter(one.check.status for one in written)
    print(", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    print(f"{count} questions: {folder.path / stage.FINISHED}")
    for one in written:
        if one.check.status != "passed":
            said = "; ".join([*one.check.problems, *filter(None, [one.check.doubt])])
            where = f"{one.item.item_id} ({one.item.type})"
            print(f"{where} {one.check.status}: {said}", file=sys.stderr)
    if counts["refused"]:
        raise typer.Exit(FAILED_ITEMS)


def compile_command(
    dataset: options.DatasetName,
    out: Annotated[Path, typer.Option(help="Where to write: .json or .jsonl, also .gz or .xz.")],
    sessions: Annotated[
        int | None, typer.Option(min=1, help="How many sessions each history has.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Or: tokens in each history, approximately.")
    ] = None,
    file: options.DataFile = None,
    questions: Annotated[
        int | None, typer.Option(min=1, help="N questions, drawn with --seed.")
    ] = None,
    types: options.Types = "",
    ids: options.Ids = "",
    per_type: options.PerType = None,
    seed: options.Seed = 0,
    keep_fillers: Annotated[
        bool, typer.Option(help="Keep each question's own filler sessions, or draw new ones.")
    ] = True,
    lead_days: Annotated[
        int, typer.Option(min=0, max=3650, help="Days of history before the evidence.")
    ] = 30,
    depth: Annotated[
        str | None,
        typer.Option(
            help="How much of the history comes before the evidence: 0 (first) to 1 (last), "
            "or 'uniform'."
        ),
    ] = None,
    dates: Annotated[str, typer.Option(help="Dates of the evidence: 'kept' or 'paper'.")] = "kept",
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
