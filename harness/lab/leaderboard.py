"""All runs under a folder in groups by data set and judge, the best run of each group first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.comparison.runs import ComparedRun, read_run_at
from harness.errors import HarnessError, UsageError
from harness.records.run_dir import MANIFEST, RunDir
from harness.report.charts import figure, shares
from harness.report.figures import bounds_of
from harness.report.table import (
    Columns,
    Table,
    csv_of,
    markdown_page,
    number,
    percent,
    render_page,
    table_of,
)

STEM = "leaderboard"
_NOTE = (
    "Overlapping intervals settle nothing, nor does the order: harness compare tests two runs over "
    "the same questions."
)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Rows in groups of comparable runs, and the reasons why other runs could not be read."""

    groups: Mapping[str, Sequence[Row]]
    unread: Sequence[str]


def read_leaderboard(folder: Path) -> Leaderboard:
    """Every run under a folder; raises `UsageError` where there is none."""
    paths = sorted(path.parent for path in folder.rglob(MANIFEST))
    if not paths:
        raise UsageError(f"{folder}: no run under it")
    groups: dict[str, list[Row]] = {}
    unread = []
    for path in paths:
        name = str(path.relative_to(folder)) if path != folder else path.name
        try:
            run = read_run_at(path, name)
        except HarnessError as error:
            unread.append(str(error))
            continue
        groups.setdefault(_group(run), []).append(_row(run))
    ordered = {name: sorted(groups[name], key=_rank) for name in sorted(groups)}
    return Leaderboard(ordered, unread)


_COLUMNS: Columns = {
    "run": lambda row: row["run"],
    "mode": lambda row: row["mode"],
    "model": lambda row: row["model"] or "–",
    "right": lambda row: percent(row["accuracy"]),
    "95 %": lambda row: _interval(row["low"], row["high"]),
    "n": lambda row: str(row["n"]),
    "missing": lambda row: str(row["missing"]),
    "unscored": lambda row: number(row["unscored"]),
    "recall_all@5": lambda row: percent(row["recall_all@5"]),
    "prompt tokens": lambda row: number(row["prompt_tokens"]),
    "answer p50, ms": lambda row: number(row["answer_p50_ms"]),
    "cost, $": lambda row: "–" if row["cost_usd"] is None else f"{row['cost_usd']:.4f}",
}


# Only for questions with options: the accuracy of taking the longest option, without any memory.
_GUESSED: Columns = {"longest option": lambda row: percent(row["longest_option"])}


def leaderboard_tables(board: Leaderboard) -> list[Table]:
    return [
        table_of(f"{name}, %", rows, _columns(rows), _NOTE) for name, rows in board.groups.items()
    ]


def _columns(rows: Sequence[Row]) -> Columns:
    guessed = any(row["longest_option"] is not None for row in rows)
    return {**_COLUMNS, **_GUESSED} if guessed else _COLUMNS


def write_leaderboard(board: Leaderboard, out: Path) -> None:
    folder = RunDir(out)
    folder.create()
    tables = leaderboard_tables(board)
    folder.replace(f"{STEM}.md", markdown_page("Leaderboard", _said(board), tables))
    folder.replace(f"{STEM}.html", _html(board, tables))
    folder.replace(f"{STEM}.csv", _csv(board))


def _group(run: ComparedRun) -> str:
    data, judge = run.report["data"], run.manifest["judge"]
    named = f"{data['name']}: {data['edition'] or data['file'] or 'built in'}"
    if data["sha256"]:
        named += f" ({data['sha256'][:12]})"
    if data["gold"]:
        named += f", corrected by {data['gold']['file']}"
    return f"{named}, " + (f"judge {judge['id']} {judge['hash']}" if judge else "not judged")


def _row(run: ComparedRun) -> Row:
    report = run.report
    accuracy, assistant, retrieval = report["accuracy"], report["assistant"], report["retrieval"]
    overall = accuracy["overall"] if accuracy else None
    guesses = accuracy["guesses"] if accuracy else None
    recall = retrieval["session"].get("recall_all@5") if retrieval else None
    low, high = bounds_of(overall) if overall else (None, None)
    return {
        "run": run.name,
        "mode": report["mode"] or "judged only",
        "model": assistant["model"] if assistant else None,
        "accuracy": overall["value"] if overall else None,
        "low": low,
        "high": high,
        "longest_option": guesses["longest_option"]["value"] if guesses else None,
        **{name: report[name] for name in ("n", "missing", "unscored")},
        "recall_all@5": recall["value"] if recall else None,
        "prompt_tokens": report["tokens"]["prompt_per_question"],
        "answer_p50_ms": report["latency"]["answer_ms"]["p50"],
        "cost_usd": report["cost"]["assistant_usd"],
    }


def _rank(row: Row) -> tuple[float, float, str]:
    """Best first; what was not measured comes last."""
    return -(row["accuracy"] or 0.0), -(row["recall_all@5"] or 0.0), row["run"]


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None else f"{percent(low)}–{percent(high)}"


def _html(board: Leaderboard, tables: Sequence[Table]) -> str:
    charts = [list(_chart(rows)) for rows in board.groups.values()]
    return render_page(
        "leaderboard.html",
        package="harness.lab",
        title="Leaderboard",
        facts={"runs": str(sum(map(len, board.groups.values())))},
        remarks=_said(board),
        groups=list(zip(tables, charts, strict=True)),
    )


def _chart(rows: Sequence[Row]) -> Iterator[str]:
    cells = [
        (
            row["run"],
            {name: row[name] for name in ("low", "high", "n")} | {"value": row["accuracy"]},
        )
        for row in rows
        if row["accuracy"] is not None
    ]
    if cells:
        yield figure("Accuracy, %", shares(cells))


def _csv(board: Leaderboard) -> str:
    rows = [{"group": name, **row} for name, rows in board.groups.items() for row in rows]
    return csv_of(rows, empty=["group"])


def _said(board: Leaderboard) -> list[str]:
    return [f"Not read: {reason}" for reason in board.unread]
