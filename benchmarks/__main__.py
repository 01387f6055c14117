"""`python -m benchmarks [names] [--sizes …] [--out FILE]`: ratios, and the figures as JSON."""

import argparse
import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import compare_peers, durability, fairness, ingest, load, server, store
from benchmarks.measured import Measured
from benchmarks.memories import Crowd

_Measurement = Callable[[list[store.Size]], Coroutine[Any, Any, list[Measured]]]


async def _embed(_: list[store.Size]) -> list[Measured]:
    # Imported here because importing torch takes seconds, and the other benchmarks need no torch.
    from benchmarks import embed

    return await embed.measure()


BENCHMARKS: dict[str, _Measurement] = {
    "store": store.measure,
    "embed": _embed,
    "server": server.measure,
    "ingest": lambda sizes: ingest.measure(),
    "durability": lambda sizes: durability.measure(),
    "fairness": lambda sizes: fairness.measure(),
    "load": lambda sizes: load.measure(),
    "soak": lambda sizes: load.measure_soak(),
    "start": lambda sizes: load.measure_start(),
    "peers": lambda sizes: compare_peers.measure(sizes=[size.crowd.rounds for size in sizes]),
}
# The peers are installed on first use, which takes minutes and the network.
_QUICK = ("store", "embed", "ingest")


def main() -> None:
    """Run the named benchmarks, or the quick ones."""
    parser = argparse.ArgumentParser(prog="benchmarks")
    parser.add_argument("names", nargs="*", help=f"of {list(BENCHMARKS)}; default: {_QUICK}")
    parser.add_argument(
        "--sizes",
        nargs="+",
        type=to_size,
        default=list(map(store.Size, store.QUICK)),
        metavar="ROUNDS[/USERS[/KEYS]][/people]",
        help="such as 100000/200, 1000000/2000/2 or, most with few, 1000000/10000/people",
    )
    parser.add_argument("--out", type=Path, default=Path("runs/bench.json"))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(
            f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}"
        )
    results: dict[str, list[Measured]] = {}
    for name in arguments.names or _QUICK:
        results[name] = asyncio.run(BENCHMARKS[name](arguments.sizes))
        _print(name, results[name])
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    figures = {name: [m.to_json() for m in measured] for name, measured in results.items()}
    arguments.out.write_text(json.dumps(figures, indent=2) + "\n")
    Console().print(f"figures: {arguments.out}")


def to_size(text: str) -> store.Size:
    """Read `ROUNDS/USERS/KEYS`; the defaults are 500 rounds a user and three to six keys a round.

    `/people` at the end spreads the rounds as people do, most of whom have few.
    """
    rounds, *more = map(int, text.removesuffix("/people").split("/"))
    users = more[0] if more else max(1, rounds // 500)
    crowd = Crowd(rounds, users, as_people=text.endswith("/people"))
    return store.Size(crowd, (more[1],)) if len(more) > 1 else store.Size(crowd)


def _print(name: str, results: list[Measured]) -> None:
    table = Table("what", "ours", "baseline", "ratio", title=name)
    for result in results:
        ours, baseline = f"{result.ours:,.1f}", f"{result.baseline:,.1f}"
        table.add_row(
            f"{result.what}, {result.unit}", ours, f"{baseline} ({result.against})", result.verdict
        )
    Console().print(table)
    for result in results:
        if result.details:
            each = ", ".join(f"{what} {value:,.1f}" for what, value in result.details.items())
            Console().print(f"{result.what}: {each}")


if __name__ == "__main__":
    main()
