"""The command `stats`: what a data set is made of."""

import json
from typing import Annotated, Any

import typer

from harness.cli import options
from harness.cli.output import results
from harness.datasets.description import describe
from harness.datasets.registry import open_dataset
from harness.report.printing import print_tables
from harness.report.table import Table, number, percent

_COLUMNS = ("n", "mean", "least", "median", "p90", "most")


def stats_command(
    dataset: options.DatasetName,
    file: options.DataFile = None,
    conversations: options.Conversations = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Describe a data set: questions, histories, evidence, dates, repetitions."""
    found = describe(open_dataset(dataset, file, conversations=conversations))
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    print_tables(results(), tables(found))


def tables(found: dict[str, Any]) -> list[Table]:
    """The description as tables."""
    counts, asked = found["counts"], found["counts"]["questions"]
    lines = [(name.replace("_", " "), str(count)) for name, count in counts.items()]
    if found["dates"]:
        lines += [("first day", found["dates"][0]), ("last day", found["dates"][-1])]
    types = [(k, str(n), percent(n / asked)) for k, n in found["types"].items()]
    measures = [
        (_label(name), number(values["n"]), *(short(values[c]) for c in _COLUMNS[1:]))
        for name, values in found["measures"].items()
    ]
    return [
        Table(
            f"Data set {found['dataset']}", ("what", "count"), lines, f"SHA-256 {found['sha256']}"
        ),
        Table("Questions by type", ("type", "questions", "%"), types),
        Table(
            "Measures", ("what", *_COLUMNS), measures, "A token is four characters; 12k are 12,000."
        ),
    ]


def _label(name: str) -> str:
    return name.replace(" per ", "/").replace("days from evidence", "days, evidence")


def short(value: float) -> str:
    """A figure that fits a column: 168k, 6,783, 237 or 4.95; --json has all digits."""
    if value >= 10_000:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")
