"""`python -m benchmarks.plain [--held-out] [FILE …]`: plain messages and questions about them."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.plain.chats import HELD_OUT, PEOPLE, put_all


def main() -> None:
    """Print each rate and, if asked, the cases that went otherwise."""
    parser = argparse.ArgumentParser(prog="benchmarks.plain", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--held-out", action="store_true", help="the people nothing was made with")
    parser.add_argument("--show", action="store_true", help="print what went otherwise")
    arguments = parser.parse_args()
    files = arguments.files or (HELD_OUT if arguments.held_out else PEOPLE)
    counts = asyncio.run(put_all(files))
    console = Console()
    if arguments.show:
        for one in counts.shown:
            console.print(one, markup=False, highlight=False)
    table = Table("", "of", "share")
    for name, happened in counts.of.items():
        table.add_row(name, f"{sum(happened)} of {len(happened)}", f"{_share(happened):.2f}")
    console.print(table)


def _share(happened: Sequence[bool]) -> float:
    return sum(happened) / len(happened)


if __name__ == "__main__":
    main()
