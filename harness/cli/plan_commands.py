"""`harness plan` and `harness plans`: what a run is to show, written before it, and what became of
it.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

import typer

from harness.cli import groups
from harness.cli.output import wide
from harness.comparison.plans import plans_table, plans_under
from harness.datasets.registry import open_source
from harness.datasets.selection import QuestionSource, select
from harness.errors import UsageError
from harness.pipeline.run import plain_filters
from harness.records.manifest import now
from harness.records.plan import (
    COMPARISON_TESTS,
    FORMAT,
    RUN_TESTS,
    ComparisonTest,
    Plan,
    RunTest,
    write_plan,
)
from harness.report.figures import is_figure
from harness.report.plan import test_of
from harness.report.table import print_tables


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What is expected: `metric` passes `test` at `threshold` in a run with the settings `set_up`,
    compared with a run with the settings `base`.
    """

    said: str
    metric: str
    test: str
    threshold: float
    set_up: Mapping[str, str]
    base: Mapping[str, str]


def make_plan(source: QuestionSource, expected: Hypothesis) -> Plan:
    """Return the plan for a hypothesis; `UsageError` for an unknown test or figure."""
    _require_testable(expected)
    dataset = open_source(source)
    chosen = select(dataset.outlines, source.filters)
    return {
        "format": FORMAT,
        "plan_id": uuid.uuid4().hex,
        "written_at": now(),
        "hypothesis": expected.said,
        "dataset": {
            "name": dataset.name,
            "sha256": dataset.fingerprint.sha256(),
            "gold": dataset.gold,
        },
        "filters": plain_filters(source.filters),
        "n": len(chosen),
        "metric": expected.metric,
        "test": cast(RunTest | ComparisonTest, expected.test),
        "threshold": expected.threshold,
        "set_up": dict(expected.set_up),
        "base": dict(expected.base),
    }


def parse_settings(given: Sequence[str], option: str) -> dict[str, str]:
    """`NAME=VALUE`, each a setting by its dotted name in a manifest."""
    settings = {}
    for text in given:
        name, found, value = text.partition("=")
        if not found or not name:
            raise UsageError(f"{option} {text!r}: expected NAME=VALUE, as in mode=native")
        settings[name] = value
    return settings


def _require_testable(expected: Hypothesis) -> None:
    tests = (*RUN_TESTS, *COMPARISON_TESTS)
    if expected.test not in tests:
        raise UsageError(f"--test {expected.test!r}: expected one of {', '.join(tests)}")
    if not is_figure(expected.metric):
        raise UsageError(f"--metric {expected.metric!r}: unknown; see the benchmark's docs")
    if expected.base and expected.test in RUN_TESTS:
        raise UsageError(f"--base: the test {expected.test} compares with no other run")
    lowest = -1 if expected.test in COMPARISON_TESTS else 0
    if not lowest <= expected.threshold <= 1:
        raise UsageError(f"--threshold {expected.threshold:g}: expected a share from {lowest} to 1")


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
