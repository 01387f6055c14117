"""`python -m benchmarks.rivals --out DIR [NAMES] -- OPTIONS`: rivals and ours, one after the other.

The options behind `--` choose the questions, as `harness run` takes them.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.processes import CACHE
from benchmarks.rivals.measuring import OURS, RIVALS, USAGE, Place, measure
from benchmarks.rivals.speed import Speed, speeds

_HEADS = (
    *("system", "all@5", "all@10", "evidence in the prompt", "its tokens, most", "answers right"),
    *("rounds/s", "ms to answer", "MB", "encoder MB", "disk MB"),
)


def table(out: Path, names: Iterable[str], speeds: Mapping[str, Speed]) -> str:
    """The table in Markdown: rows in the order of `names`, speeds with their ratio to the first."""
    rows = [_row(out, name, speeds[name]) for name in names]
    lines = [_line(_HEADS), _line(["---", *("---:" for _ in _HEADS[1:])])]
    lines += [_line(_cells(row, rows[0])) for row in rows]
    return "\n".join(lines)


def _row(out: Path, name: str, speed: Speed) -> dict[str, Any]:
    report = json.loads((out / name / "report.json").read_text())
    return {
        "system": name,
        "sessions": report["retrieval"]["session"],
        "prompts": report["evidence_in_prompt"],
        "accuracy": report["accuracy"],
        "rounds_a_second": speed.rounds_a_second,
        "answer_ms": speed.answer_ms,
        "usage": json.loads((out / name / USAGE).read_text()),
    }


def _cells(row: Mapping[str, Any], first: Mapping[str, Any]) -> list[str]:
    usage, prompts = row["usage"], row["prompts"]
    return [
        row["system"],
        _share(row["sessions"]["recall_all@5"]["value"]),
        _share(row["sessions"]["recall_all@10"]["value"]),
        _share(prompts["value"]),
        f"{prompts['tokens_estimate']['max']:,}",
        _share(row["accuracy"]["overall"]["value"]),
        _beside(row["rounds_a_second"], first["rounds_a_second"]),
        _beside(row["answer_ms"], first["answer_ms"]),
        *(f"{usage[name]:,.0f}" if usage[name] else "–" for name in ("memory", "encoder", "disk")),
    ]


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _beside(value: float, first: float) -> str:
    return f"{value:,.1f} ({value / first:.2f}×)"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


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
