"""The table of finished runs: a row a system, from the reports of the harness."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.rivals.measuring import USAGE
from benchmarks.rivals.speed import Speed

_HEADS = (
    *("system", "all@5", "all@10", "evidence in the prompt", "its tokens, most", "answers right"),
    *("rounds/s", "ms to answer", "MB", "encoder MB", "disk MB"),
)


def table(out: Path, names: Iterable[str], speeds: Mapping[str, Speed]) -> str:
    """Markdown; the rows in this order, speeds with their ratio to the first row."""
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
