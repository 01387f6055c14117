"""The command `author`: fresh questions, and the sheet on which people decide about them."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.authoring.model_author import AuthorModel, ModelAuthor, forecast
from harness.authoring.ontology import ontology
from harness.authoring.plan import TYPES, plan_items
from harness.authoring.review import review
from harness.authoring.stage import (
    FINISHED,
    History,
    Written,
    finish,
    keep_steps,
    open_folder,
    write_items,
)
from harness.authoring.template_author import TemplateAuthor
from harness.cli import options
from harness.cli.output import FAILED_ITEMS, results
from harness.errors import UsageError
from harness.records.run_dir import RunDir
from harness.report.printing import print_tables
from harness.spending.budget import Limits

author_app = typer.Typer(
    help="Write fresh questions with their histories, by templates or with a model.",
    invoke_without_command=True,
)


@author_app.callback()
def author_command(
    context: typer.Context,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of the questions and all steps; continued if begun."),
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Write by templates, without a model.")
    ] = False,
    model: Annotated[
        str | None, typer.Option("--model", help="Or with a model: MODEL@BASE_URL.")
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            "--api-key",
            envvar=["HARNESS_AUTHOR_API_KEY", "OPENAI_API_KEY"],
            help="Key of the model.",
            show_envvar=True,
        ),
    ] = None,
    per_type: Annotated[
        int, typer.Option("--per-type", min=1, help="Questions of each type.")
    ] = 10,
    types: Annotated[
        str,
        typer.Option("--types", help=f"Only these types, by commas: {', '.join(TYPES)}."),
    ] = "",
    sessions: Annotated[
        int, typer.Option("--sessions", min=1, help="How many sessions each history has.")
    ] = 48,
    pool: Annotated[
        Path | None,
        typer.Option(
            "--pool",
            help="Take fillers from a file: LongMemEval, or shaped as ShareGPT or UltraChat.",
            dir_okay=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    only_accepted: Annotated[
        bool, typer.Option("--only-accepted", help="Write only what a person accepted.")
    ] = False,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=64, help="Questions written in parallel.")
    ] = 4,
    price: Annotated[
        str | None,
        typer.Option("--price", help="US dollars per million tokens: PROMPT/COMPLETION."),
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
    known = ontology()
    items = plan_items(known, options.names(types), per_type, seed)
    folder = RunDir(out)
    settings: dict[str, Any] = {
        "format": 1,
        "seed": seed,
        "per_type": per_type,
        "types": list(options.names(types) or TYPES),
        "ontology": known.sha256,
    }
    history = History(sessions, pool, only_accepted)
    if model is None:
        if dry_run:
            print(f"{len(items)} questions by templates: no call, no cost")
            return
        open_folder(folder, settings | {"author": "template"})
        with folder.owned():
            written = write_items(TemplateAuthor(known), items, concurrency)
            _conclude(folder, written, history, seed)
        return
    known_price = None if price is None else options.price(price, "--price")
    asked = AuthorModel.parse(model, api_key, known_price)
    table = forecast(items, asked.price)
    print_tables(results(), [table])
    if dry_run:
        return
    open_folder(folder, settings | {"author": asked.identity})
    with folder.owned():
        author = ModelAuthor(folder, asked, Limits(max_tokens, max_cost))
        written = write_items(author, items, concurrency)
        _conclude(folder, written, history, seed)


@author_app.command("review")
def review_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of author --out.")],
) -> None:
    """Decide about each question: accept, edit or reject it. Then run author again."""
    folder = RunDir(directory)
    decided, left = review(folder, _typed, print)
    print(f"{decided} decided, {left} left")


def _typed(prompt: str) -> str:
    """A line from the terminal; its end means quit."""
    try:
        return input(prompt)
    except EOFError:
        return "q"


def _conclude(folder: RunDir, written: list[Written], history: History, seed: int) -> None:
    keep_steps(folder, written)
    chosen = finish(folder, written, ontology(), history, seed)
    counts = Counter(one.check.status for one in written)
    print(", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    print(f"{len(chosen)} questions: {folder.path / FINISHED}")
    bad = [one for one in written if one.check.status != "passed"]
    for one in bad:
        said = "; ".join([*one.check.problems, *filter(None, [one.check.doubt])])
        print(f"{one.item.item_id} ({one.item.type}) {one.check.status}: {said}", file=sys.stderr)
    if any(one.check.status == "refused" for one in written):
        raise typer.Exit(FAILED_ITEMS)
