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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Describe a data set: questions, histories, evidence, dates, repetitions."""
    found = describe(open_dataset(dataset, file))
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    print_tables(results(), tables(found))


def tables(found: dict[str, Any]) -> list[Table]:
    """The description as tables."""
    counts, asked = found["counts"], found["counts"]["questions"]
    lines = [(name.replace("_", " "), str(count)) for name, count in counts.items()]
    lines += [("first day", found["dates"][0]), ("last day", found["dates"][-1])]
    types = [(k, str(n), percent(n / asked)) for k, n in found["types"].items()]
    measures = [
        (name, *(number(values[column]) for column in _COLUMNS[:1]), *_rounded(values))
        for name, values in found["measures"].items()
    ]
    return [
        Table(
            f"Data set {found['dataset']}", ("what", "count"), lines, f"SHA-256 {found['sha256']}"
        ),
        Table("Questions by type", ("type", "questions", "%"), types),
        Table("Measures", ("what", *_COLUMNS), measures, "A token is four characters."),
    ]


def _rounded(values: dict[str, float]) -> list[str]:
    return [f"{values[column]:,.2f}".rstrip("0").rstrip(".") for column in _COLUMNS[1:]]
