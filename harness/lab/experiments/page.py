"""The page of an experiment: our figures beside the published ones, tests between cells, costs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.comparison.build import common_questions
from harness.comparison.paired import paired_accuracy, paired_figures
from harness.comparison.runs import ComparedRun, read_run_at
from harness.lab.experiments.cells import Cell, Grid
from harness.lab.experiments.experiment import (
    Laboratory,
    finished_cell,
    megabytes_of,
    seconds_of,
)
from harness.metrics.effort import percentile
from harness.records.run_dir import RunDir
from harness.report.charts import Curve, curve_chart, figure
from harness.report.table import Table, markdown_page, number, p_value, percent, render_page
from harness.statistics.paired_tests import holm

JSON, MARKDOWN, HTML = "experiment.json", "experiment.md", "experiment.html"
Row = dict[str, Any]
_RETRIEVAL = {
    "recall_all@5": "recall_all@5",
    "ndcg@5": "ndcg@5[longmemeval]",
    "recall_all@10": "recall_all@10",
    "ndcg@10": "ndcg@10[longmemeval]",
}
_SHORT = {"recall_all@5": "R@5", "ndcg@5": "N@5", "recall_all@10": "R@10", "ndcg@10": "N@10"}


def write_page(laboratory: Laboratory, grid: Grid) -> list[Table]:
    grid = _with_earlier_cells(laboratory, grid)
    runs = {
        cell.name: read_run_at(laboratory.folder(cell), cell.name)
        for cell in grid.cells
        if seconds_of(laboratory, cell) is not None
    }
    cells = [cell for cell in grid.cells if cell.name in runs]
    rows = [_row(laboratory, cell, runs[cell.name]) for cell in cells]
    _compare(rows, cells, [runs[cell.name] for cell in cells])
    costs = _costs(laboratory)
    tables = list(_tables(grid, rows, costs))
    folder = RunDir(laboratory.out)
    data = {"experiment": grid.name, "cells": rows, "costs": costs}
    folder.replace(JSON, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    remarks = [grid.about, *_unfinished(grid, cells)]
    folder.replace(MARKDOWN, markdown_page(_title(grid), remarks, tables))
    html = render_page(
        "experiment.html",
        package="harness.lab.experiments",
        title=_title(grid),
        facts=_facts(laboratory, rows),
        remarks=remarks,
        charts=list(_charts(grid, cells, rows)),
        tables=tables,
    )
    folder.replace(HTML, html)
    return tables


def _with_earlier_cells(laboratory: Laboratory, grid: Grid) -> Grid:
    """The cells that the page shows already, in their order, and then those of this command."""
    file = laboratory.out / JSON
    page = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if page.get("experiment") != grid.name:
        return grid
    own = {cell.name: cell for cell in grid.cells}
    shown = [row["cell"] for row in page["cells"]]
    earlier = [own.get(name) or finished_cell(laboratory, name) for name in shown]
    later = [cell for name, cell in own.items() if name not in shown]
    return replace(grid, cells=[*filter(None, earlier), *later])


def _title(grid: Grid) -> str:
    return f"{grid.name}: {grid.title}"


def _facts(laboratory: Laboratory, rows: Sequence[Row]) -> dict[str, str]:
    reader = laboratory.reader
    return {
        "data": f"{laboratory.source.dataset} {laboratory.source.file or ''}".strip(),
        "questions": str(max((row["n"] for row in rows), default=0)),
        "reader": reader.model if reader else "quotes, without a language model",
        "judge": laboratory.judge.id,
    }


def _unfinished(grid: Grid, cells: Sequence[Cell]) -> list[str]:
    left = [cell.label for cell in grid.cells if cell not in cells]
    return [f"Not finished: {'; '.join(left)}. Run the same command again."] if left else []


def _row(laboratory: Laboratory, cell: Cell, run: ComparedRun) -> Row:
    retrieval, accuracy = run.report["retrieval"], run.report["accuracy"]
    figures: Mapping[str, Any] = {}
    if retrieval:
        figures = retrieval["round" if cell.level == "round" else "session"]
    prompts = _prompts(laboratory, cell)
    return {
        "cell": cell.name,
        "label": cell.label,
        "level": cell.level,
        "n": run.report["n"],
        **{name: (figures.get(m) or {}).get("value") for name, m in _RETRIEVAL.items()},
        "accuracy": accuracy["overall"]["value"] if accuracy else None,
        **prompts,
        "answer_tokens": run.report["tokens"]["prompt_per_question"],
        **_speed(run),
        "seconds": seconds_of(laboratory, cell),
        "published": dict(cell.published),
    }


def _prompts(laboratory: Laboratory, cell: Cell) -> Row:
    table = None
    if cell.prompts:
        recorded = read_run_at(laboratory.folder(cell) / "prompts", cell.name)
        table = recorded.report["evidence_in_prompt"]
    return {
        "evidence_in_prompt": table["value"] if table else None,
        "prompt_tokens": table["tokens_estimate"]["p50"] if table else None,
    }


def _speed(run: ComparedRun) -> Row:
    """The first search of a history makes its view, as the assistant tells; the second one of a
    question finds it made.
    """
    lines = run.lines.retrieval.values()
    making: dict[str, float] = {}
    for line in lines:
        if "index_ms" in line:
            making[line["user_id"]] = max(line["index_ms"], making.get(line["user_id"], 0.0))
    again = [line["search_ms"]["session"] for line in lines if "session" in line["search_ms"]]
    return {
        "search_ms": percentile(again, 0.5),
        "index_ms": percentile(list(making.values()), 0.5),
    }


def _compare(rows: Sequence[Row], cells: Sequence[Cell], runs: Sequence[ComparedRun]) -> None:
    """Compare each cell with the first one of its level; Holm's p-values over all of them."""
    bases: dict[str, ComparedRun] = {}
    for name in ("p_recall", "p_accuracy"):
        for row in rows:
            row[name] = None
    for row, cell, run in zip(rows, cells, runs, strict=True):
        base = bases.setdefault("round" if cell.level == "round" else "session", run)
        if base is run:
            continue
        questions = common_questions([base, run])
        name = "round.recall_all@5" if cell.level == "round" else "recall_all@5"
        found = paired_figures(base, run, questions).get(name)
        row["p_recall"] = found["p"] if found else None
        if base.is_judged and run.is_judged:
            row["p_accuracy"] = paired_accuracy(base, run, questions)["p"]
    for name in ("p_recall", "p_accuracy"):
        tested = [row for row in rows if row[name] is not None]
        for row, p in zip(tested, holm([row[name] for row in tested]), strict=True):
            row[name] = p


def _costs(laboratory: Laboratory) -> Row:
    if not laboratory.memory.exists():
        return {}
    run = read_run_at(laboratory.memory, "memory")
    ingest = run.report["ingest"]
    return {
        "histories": len({question.history_id for question in run.lines.questions}),
        "rounds": ingest["rounds"],
        "concurrency": laboratory.concurrency,
        "ingest_seconds": ingest["seconds"],
        "memory_megabytes": round(megabytes_of(laboratory.data, besides=("vectors.sqlite",)), 1),
        "vectors_megabytes": round(megabytes_of(laboratory.data), 1)
        - round(megabytes_of(laboratory.data, besides=("vectors.sqlite",)), 1),
    }


def _tables(grid: Grid, rows: Sequence[Row], costs: Row) -> Iterator[Table]:
    measured = [name for name in _SHORT if any(row[name] is not None for row in rows)]
    header = ["", *(_SHORT[name] for name in measured)]
    header += [f"{_SHORT[name]}, published" for name in measured if _is_published(rows, name)]
    answers = any(row["accuracy"] is not None for row in rows)
    prompts = any(row["evidence_in_prompt"] is not None for row in rows)
    header += ["right"] * answers + ["right, published"] * _is_published(rows, "accuracy")
    header += ["evidence read"] * prompts
    header += ["p (R@5)"] * bool(measured) + ["p (right)"] * answers
    body = []
    for row in rows:
        cells = [row["label"], *(percent(row[name]) for name in measured)]
        cells += [
            percent(row["published"].get(name)) for name in measured if _is_published(rows, name)
        ]
        cells += [percent(row["accuracy"])] * answers
        if _is_published(rows, "accuracy"):
            cells.append(percent(row["published"].get("accuracy")))
        cells += [percent(row["evidence_in_prompt"])] * prompts
        cells += [p_value(row["p_recall"])] * bool(measured)
        cells += [p_value(row["p_accuracy"])] * answers
        body.append(tuple(cells))
    note = (
        "Percent. R: all evidence among the first k, N: NDCG as LongMemEval computes it, of rounds "
        "where rounds are ranked, else of sessions. Evidence read: every evidence turn word for "
        "word in the prompt. p: exact McNemar test against the first row of the same level, "
        "corrected after Holm."
    )
    yield Table("Figures", tuple(header), body, note)
    yield Table(
        "Costs",
        ("", "prompt tokens, p50", "a search, ms", "making the view, ms", "the cell, s"),
        [
            (
                row["label"],
                number(row["prompt_tokens"] or row["answer_tokens"]),
                number(row["search_ms"]),
                number(row["index_ms"]),
                number(row["seconds"]),
            )
            for row in rows
        ],
        _cost_note(costs),
    )


def _cost_note(costs: Row) -> str:
    if not costs:
        return ""
    return (
        f"One memory for all cells: {costs['rounds']} rounds of {costs['histories']} histories, "
        f"brought in within {number(costs['ingest_seconds'])} s, "
        f"{number(costs['memory_megabytes'])} MB, and {number(costs['vectors_megabytes'])} MB of "
        "vectors. All cells share these, so their time is in no figure but that of a whole cell, "
        "which is longest where a text is met first. The view of a history is made by its first "
        f"search, with {costs['concurrency']} at once."
    )


def _is_published(rows: Sequence[Row], name: str) -> bool:
    return any(name in row["published"] for row in rows)


def _charts(grid: Grid, cells: Sequence[Cell], rows: Sequence[Row]) -> Iterator[str]:
    if grid.name != "fig5":
        return
    for name, title in (("evidence_in_prompt", "Evidence read, %"), ("accuracy", "Right, %")):
        curves: dict[str, list[tuple[float, float]]] = {}
        for cell, row in zip(cells, rows, strict=True):
            if row[name] is not None:
                budget = float(cell.settings["recall.context_tokens"])
                curves.setdefault(cell.settings["choices.value"], []).append((budget, row[name]))
        if curves:
            drawn = [Curve(value, points) for value, points in curves.items()]
            yield figure(title, curve_chart(drawn, x_label="tokens of memory in the prompt"))
