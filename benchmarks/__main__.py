"""`python -m benchmarks [names] [--out FILE]`: print ratios, write the figures as JSON."""

import argparse
import asyncio
import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import embed, store
from benchmarks.measured import Measured

BENCHMARKS = {"store": store.measure, "embed": embed.measure}


def main() -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="benchmarks")
    parser.add_argument("names", nargs="*", help=f"some of {list(BENCHMARKS)}; default: all")
    parser.add_argument("--out", type=Path, default=Path("runs/bench.json"))
    arguments = parser.parse_args()
    results: dict[str, list[Measured]] = {}
    for name in arguments.names or BENCHMARKS:
        results[name] = asyncio.run(BENCHMARKS[name]())
        _print(name, results[name])
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    figures = {name: [m.to_json() for m in measured] for name, measured in results.items()}
    arguments.out.write_text(json.dumps(figures, indent=2) + "\n")
    Console().print(f"figures: {arguments.out}")


def _print(name: str, results: list[Measured]) -> None:
    table = Table("what", "ours", "baseline", "ratio", title=name)
    for result in results:
        ours, baseline = f"{result.ours:,.1f}", f"{result.baseline:,.1f}"
        table.add_row(
            f"{result.what}, {result.unit}", ours, f"{baseline} ({result.against})", result.verdict
        )
    Console().print(table)


if __name__ == "__main__":
    main()
