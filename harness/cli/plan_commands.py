"""`harness plan` and `harness plans`: what a run is to show, written before it, and what became of
it.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import groups
from harness.cli.output import wide
from harness.comparison.plans import plans_table, plans_under
from harness.pipeline.plan import Hypothesis, make_plan, parse_settings
from harness.records.plan import COMPARISON_TESTS, RUN_TESTS, write_plan
from harness.report.plan import test_of
from harness.report.table import print_tables


def plan_command(
    selection: groups.Selection,
    hypothesis: Annotated[str, typer.Option(help="What is expected, in a sentence.")],
    threshold: Annotated[
        float, typer.Option(help="The share, or difference of shares, that is at least expected.")
    ],
    out: Annotated[Path, typer.Option(help="Where to write the plan (.json).", dir_okay=False)],
    metric: Annotated[
        str, typer.Option(help="A figure by its name, as for --fail-under.")
    ] = "accuracy",
    test: Annotated[
        str,
        typer.Option(
            help=f"Of a run: {', '.join(RUN_TESTS)}; of two: {', '.join(COMPARISON_TESTS)}."
        ),
    ] = "interval",
    set_up: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting that the run must have, by its dotted name in manifest.json; may be "
            "repeated.",
        ),
    ] = None,
    base: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="The same of the run that it is to be compared with."
        ),
    ] = None,
) -> None:
    """Write down what a run or a comparison is to show, before there is one."""
    settings = parse_settings(set_up or (), "--set-up"), parse_settings(base or (), "--base")
    expected = Hypothesis(hypothesis, metric, test, threshold, *settings)
    plan = make_plan(selection.source, expected)
    write_plan(out, plan)
    print(f"{out}: {test_of(plan)}; n = {plan['n']}")


def plans_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with runs under it.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List all plans under a folder: which held, which failed, and which were not followed."""
    found = plans_under(folder)
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    console = wide()
    for reason in found["unread"]:
        console.print(f"skipped: {reason}", style="yellow", highlight=False, markup=False)
    print_tables(console, [plans_table(found)])
