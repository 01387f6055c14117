"""`python -m benchmarks.rivals --out DIR [NAMES] -- OPTIONS`: rivals and ours, one after the other.

The options behind `--` choose the questions, as `harness run` takes them.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.environments import CACHE
from benchmarks.rivals.measuring import OURS, RIVALS, Place, measure
from benchmarks.rivals.speed import speeds
from benchmarks.rivals.table import table


def main() -> None:
    """Measure the named systems, compare all runs, print the table."""
    mine, questions = _split(sys.argv[1:])
    parser = argparse.ArgumentParser(prog="benchmarks.rivals")
    parser.add_argument("names", nargs="*", help=f"of {[OURS, *RIVALS]}; default: all")
    parser.add_argument("--out", type=Path, default=Path("runs/rivals"))
    parser.add_argument("--environments", type=Path, default=CACHE, help="where they are made")
    parser.add_argument("--python", default=sys.executable, help="the Python that they get")
    parser.add_argument("--reader", default="", help="a model that answers: base URL, no key")
    parser.add_argument("--reader-model", default="gpt-4o", help="its name")
    given = parser.parse_args(mine)
    names = given.names or [OURS, *RIVALS]
    if unknown := set(names) - {OURS, *RIVALS}:
        parser.error(f"no system {', '.join(sorted(unknown))}")
    place = Place(given.out, given.environments, given.python, given.reader, given.reader_model)
    for name in names:
        measure(name, place, questions or ["--dataset", "sample"])
    _compare(given.out, names)
    text = table(given.out, names, speeds(place, names))
    (given.out / "table.md").write_text(text + "\n")
    print(text)


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _compare(out: Path, names: list[str]) -> None:
    if len(names) > 1:
        runs = [str(out / name) for name in names]
        command = [sys.executable, "-m", "harness", "compare", *runs]
        subprocess.run([*command, "--out", str(out / "compared")], check=True)


if __name__ == "__main__":
    main()
