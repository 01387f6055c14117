"""`harness experiment`: the experiments of LongMemEval, each by one command."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.groups import Allowance, Judging, Selection, grouped
from harness.cli.output import FAILED_ITEMS, progress, results
from harness.errors import UsageError
from harness.lab.experiments.cells import DESIGNS, Grid, Wanted, grid_of
from harness.lab.experiments.experiment import Laboratory, Reader, run_experiment
from harness.lab.experiments.online import ONLINE, judge_answers, write_sheets
from harness.lab.experiments.page import HTML, write_page
from harness.report.table import print_tables


@grouped
def experiment_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="table2, table3, table4, fig3, fig5 or fig6.")
    ],
    selection: Selection,
    out: Annotated[
        Path, typer.Option("--out", help="A folder; an unfinished experiment in it is continued.")
    ],
    judging: Judging,
    allowance: Allowance,
    designs: Annotated[
        str,
        typer.Option("--designs", help=f"Only these designs (table2): {', '.join(DESIGNS)}."),
    ] = "",
    reader: Annotated[
        str | None,
        typer.Option(
            "--reader",
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
        str | None,
        typer.Option("--model-key", envvar="HARNESS_MODEL_KEY", help="The key of these models."),
    ] = None,
    server: Annotated[
        str, typer.Option("--server", help="The command that starts an assistant.")
    ] = "assistant serve",
    ready_timeout: Annotated[
        float, typer.Option("--ready-timeout", min=1, help="Seconds until it must be ready.")
    ] = 180.0,
    concurrency: options.Concurrency = 2,
    context_tokens: options.ContextTokens = 120_000,
) -> None:
    """Repeat an experiment of LongMemEval: every cell on a server of its own over one memory."""
    chosen = options.names(designs) or DESIGNS
    ranges = {
        said: dict(Reader.parse(model, model_key).settings("query_model"))
        for said, model in (("strong model", strong), ("weak model", weak))
        if model
    }
    grid = grid_of(name, Wanted(chosen, reader is not None, ranges))
    if designs and name != "table2":
        raise UsageError("--designs is for table2")
    judge, _ = judging.judges(selection.dataset, out, allowance.limits.prices)
    laboratory = Laboratory(
        out,
        selection.source,
        progress(),
        judge,
        server=server,
        reader=Reader.parse(reader, model_key) if reader else None,
        ready_seconds=ready_timeout,
        concurrency=concurrency,
        context_tokens=context_tokens,
        shared=_extracting(extractor, model_key),
    )
    try:
        if name == "fig3":
            grid = _with_online(laboratory, grid)
        failed = run_experiment(laboratory, grid)
    finally:
        if laboratory.out.exists():
            tables = write_page(laboratory, grid)
    console = results()
    print_tables(console, tables)
    console.print(f"experiment: {out / HTML}", highlight=False, soft_wrap=True)
    if failed:
        raise typer.Exit(FAILED_ITEMS)


def _with_online(laboratory: Laboratory, grid: Grid) -> Grid:
    """The grid with what people wrote down, where there is some; sheets for them."""
    sheets = write_sheets(laboratory)
    if sheets:
        laboratory.console.print(
            f"{sheets} sheets to type into a web chat: {laboratory.out / 'sheets'}",
            highlight=False,
            soft_wrap=True,
        )
    is_answered = judge_answers(laboratory)
    if not (sheets or grid.cells):
        raise UsageError(
            "fig3 lets a language model read whole histories (--reader MODEL@URL), or people type "
            "short ones into a web chat: harness compile --sessions 5 makes such"
        )
    return replace(grid, cells=(*grid.cells, ONLINE)) if is_answered else grid


def _extracting(extractor: str | None, key: str | None) -> dict[str, str]:
    if extractor is None:
        return {}
    asked = {"enrichment.keyphrases": "true", "enrichment.summaries": "true"}
    return Reader.parse(extractor, key).settings("extract_model") | asked
