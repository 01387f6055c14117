"""`python -m benchmarks.capacity [SIZE] [--compare FILE] [--figures]`: what it would take.

Predicts for ten million people and a billion rounds, or the size given as for `python -m
benchmarks`; or puts its predictions beside what `python -m benchmarks store server` measured.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.capacity.figures import KnownFigures
from benchmarks.capacity.predictions import by_clients, compared, embedded, large, on_server
from benchmarks.memories import Crowd

_BILLION = "1000000000/10000000/people"
_CLIENTS = (1, 8, 64)
_EMBEDDED_UP_TO = 5_000_000
_CROWD = re.compile(r"(on a server, )?([\d,]+) rounds of ([\d,]+) users?(, most with few)?$")


def main() -> None:
    """Predict, compare, or list the figures."""
    parser = argparse.ArgumentParser(prog="benchmarks.capacity", description=__doc__)
    parser.add_argument("size", nargs="?", default=_BILLION, help="ROUNDS/USERS[/people]")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="figures of the benchmarks")
    parser.add_argument("--figures", action="store_true", help="what the predictions rest on")
    parser.add_argument("--keys", type=float, help="of a round, in place of three to six")
    parser.add_argument("--cores", type=int, default=2, help="of the machine of one process")
    arguments = parser.parse_args()
    figures = KnownFigures(**({"keys": arguments.keys} if arguments.keys else {}))
    console = Console()
    if arguments.figures:
        console.print(_listed(figures))
    elif arguments.compare:
        found = json.loads(arguments.compare.read_text("utf-8"))
        for what, predicted, measured in measured_sizes(found, figures):
            console.print(_beside(what, predicted, measured))
    else:
        for table in _predicted(figures, crowd(arguments.size), arguments.cores):
            console.print(table)


def crowd(size: str) -> Crowd:
    """Read `ROUNDS/USERS`, with `/people` at the end if most users have few rounds."""
    rounds, users = map(int, size.removesuffix("/people").split("/"))
    return Crowd(rounds, users, as_people=size.endswith("/people"))


def measured_sizes(
    found: dict[str, list[dict[str, Any]]], figures: KnownFigures
) -> Iterator[tuple[str, dict[str, float], dict[str, float]]]:
    """Each size that was measured: what, predicted, measured."""
    for one in [*found.get("store", []), *found.get("server", [])]:
        size = _CROWD.search(one["what"])
        if size is None or not one["details"]:
            continue
        rounds, users = (int(number.replace(",", "")) for number in size.group(2, 3))
        predict = on_server if size[1] else embedded
        predicted = predict(figures, Crowd(rounds, users, as_people=bool(size[4])))
        yield one["what"], predicted, {"p50": one["ours"], **one["details"]}


def _predicted(figures: KnownFigures, asked: Crowd, cores: int) -> Iterator[Table]:
    if asked.rounds > _EMBEDDED_UP_TO:
        table = Table("", "from", "to", title=f"{asked}")
        for what, value in large(figures, asked).items():
            table.add_row(what, *((value, "") if isinstance(value, str) else map(_short, value)))
        yield table
        return
    table = Table("", "predicted", title=f"{asked}, embedded, one process")
    for name, figure in embedded(figures, asked).items():
        table.add_row(name, _short(figure))
    yield table
    table = Table("clients", "", "p50", "p95", "p99", title=f"ms, {cores} cores")
    for clients in _CLIENTS:
        for what, percentiles in by_clients(figures, asked, clients, cores).items():
            table.add_row(str(clients), what, *map(_short, percentiles))
    yield table


def _beside(what: str, predicted: dict[str, float], measured: dict[str, float]) -> Table:
    table = Table("", "predicted", "measured", "measured/predicted", title=what)
    for name, expected, found in compared(predicted, measured):
        table.add_row(name, _short(expected), _short(found), f"{found / expected:.2f}")
    return table


def _listed(figures: KnownFigures) -> Table:
    table = Table("figure", "value", "", "from")
    for name, figure in figures.all.items():
        table.add_row(name, str(figure["value"]), figure["kind"], figure["from"])
    return table


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:,.1f}"


if __name__ == "__main__":
    main()
