"""`python -m benchmarks.recall FILE [FILE …]`: the table of variants, and the cross-validation."""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.recall.crossvalidation import cross_validate, figures_by_time_use, print_time_use
from benchmarks.recall.histories import RecallQuestion, ask_all
from benchmarks.recall.table import figures_by_variant, print_folds, print_table

# Columns of a table that is not shown in a terminal.
_WIDTH = 170


def main() -> None:
    """Replay the files and print what every variant finds."""
    parser = argparse.ArgumentParser(prog="benchmarks.recall", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="histories in LongMemEval format")
    parser.add_argument("--folds", type=int, default=5, help="of the cross-validation; 0: none")
    parser.add_argument("--cache", type=Path, default=Path("runs/recall-vectors"))
    parser.add_argument("--out", type=Path, default=Path("runs/recall.json"))
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    figures: dict[str, Any] = {}
    everything: list[list[RecallQuestion]] = []
    for file in arguments.files:
        asked = asyncio.run(ask_all(file, arguments.cache, console))
        everything.append(asked)
        figures[file.name] = figures_by_variant(asked)
        print_table(console, file.name, figures[file.name])
    if arguments.folds:
        folds = cross_validate(everything, arguments.folds)
        figures["cross_validation"] = folds
        print_folds(console, folds)
        figures["time"] = figures_by_time_use(everything, arguments.folds)
        print_time_use(console, figures["time"])
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(figures, indent=2) + "\n")
    console.print(f"figures: {arguments.out}")


main()
