"""The page of an experiment: our figures beside the published ones, contrasts between cells, types
of questions, costs.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from harness.comparison.runs import ComparedRun, read_run_at
from harness.lab.experiments.cells import Cell, Grid
from harness.lab.experiments.contrasts import (
    EVIDENCE,
    FIGURES,
    RECALL,
    RIGHT,
    FinishedCell,
    Row,
    contrasts_of,
)
from harness.lab.experiments.experiment import (
    Laboratory,
    finished_cell,
    megabytes_of,
    seconds_of,
)
from harness.metrics.effort import percentile
from harness.records.run_dir import RunDir
from harness.report.charts import Curve, curve_chart, figure
from harness.report.table import (
    Table,
    markdown_page,
    number,
    p_value,
    percent,
    points,
    render_page,
    table_of,
)

JSON, MARKDOWN, HTML = "experiment.json", "experiment.md", "experiment.html"
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
    measured = [FinishedCell(cell, runs[cell.name]) for cell in cells]
    rows = [_row(laboratory, one) for one in measured]
    contrasts = contrasts_of(measured)
    _tell_p_values(rows, contrasts)
    costs = _costs(laboratory)
    tables = list(_tables(rows, contrasts, costs))
    folder = RunDir(laboratory.out)
    data = {"experiment": grid.name, "cells": rows, "contrasts": contrasts, "costs": costs}
    folder.replace(JSON, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    remarks = [grid.about, *_cut(measured), *_unfinished(grid, cells)]
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
    """The grid with the cells that the page shows already, then the new cells of this command."""
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


def _cut(cells: Sequence[FinishedCell]) -> list[str]:
    """Sentences on how much of the histories a model without memory was not given."""
    told = []
    for one in cells:
        accounts = [
            line["context"] for line in one.run.lines.hypotheses.values() if "context" in line
        ]
        cut = [each for each in accounts if each["tokens_cut_estimate"]]
        if cut:
            room = max(each["tokens_estimate"] for each in cut)
            told.append(
                f"{one.cell.label}: of {len(cut)} of {len(accounts)} histories only the latest "
                f"sessions were given, up to {room:,} tokens of four characters (--context-tokens)."
            )
    return told


def _row(laboratory: Laboratory, measured: FinishedCell) -> Row:
    cell, run = measured.cell, measured.run
    retrieval, accuracy = run.report["retrieval"], run.report["accuracy"]
    figures: Mapping[str, Any] = {}
    if retrieval and not cell.is_found_before:
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
        "shares": {name: share for name in FIGURES if (share := measured.share(name))},
        "by_type": measured.by_type(),
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
    """Median times of a search and of making a history's view. The first search of a history makes
    the view (`index_ms`), so the second search of each question is the one that is timed.
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


def _tell_p_values(rows: Sequence[Row], contrasts: Sequence[Row]) -> None:
    """Add Holm's p-values of recall and of answers to the rows of their cells."""
    found = {(one["cell"], one["figure"]): one.get("p_holm") for one in contrasts}
    for row in rows:
        row["p_recall"] = found.get((row["cell"], RECALL))
        row["p_accuracy"] = found.get((row["cell"], RIGHT))


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


def _tables(rows: Sequence[Row], contrasts: Sequence[Row], costs: Row) -> Iterator[Table]:
    yield _figures(rows)
    if contrasts:
        yield _contrast_table(contrasts)
    if any(row["by_type"] for row in rows):
        yield _type_table(rows)
    yield _cost_table(rows, costs)


def _figures(rows: Sequence[Row]) -> Table:
    measured = [name for name in _SHORT if any(row[name] is not None for row in rows)]
    shared = [name for name in FIGURES if any(name in row["shares"] for row in rows)]
    columns: dict[str, Callable[[Row], str]] = {"": lambda row: row["label"]}
    for name in measured:
        columns[_SHORT[name]] = partial(_percent_of, name)
    for name in (name for name in measured if _is_published(rows, name)):
        columns[f"{_SHORT[name]}, published"] = partial(_published, name)
    if RIGHT in shared:
        columns["right"] = partial(_percent_of, RIGHT)
    if _is_published(rows, RIGHT):
        columns["right, published"] = partial(_published, RIGHT)
    if EVIDENCE in shared:
        columns["evidence read"] = partial(_percent_of, EVIDENCE)
    for name in shared:
        columns[f"{FIGURES[name]}: 95 %, n"] = partial(_interval, name)
    note = (
        "Percent. R: all evidence among the first k, N: NDCG as LongMemEval computes it, of rounds "
        "where rounds are ranked, else of sessions, over the questions that have such evidence. "
        "Evidence read: every evidence turn word for word in the prompt. A figure that is missing "
        "stands at an earlier cell with the same search."
    )
    return table_of("Figures", rows, columns, note)


def _percent_of(name: str, row: Row) -> str:
    return percent(row[name])


def _published(name: str, row: Row) -> str:
    return percent(row["published"].get(name))


def _interval(name: str, row: Row) -> str:
    share = row["shares"].get(name)
    if share is None:
        return "–"
    return f"{percent(share['low'])} to {percent(share['high'])}, {share['n']}"


def _contrast_table(contrasts: Sequence[Row]) -> Table:
    columns: dict[str, Callable[[Row], str]] = {
        "": lambda one: f"{one['label']} – {one['base_label']}",
        "figure": lambda one: FIGURES[one["figure"]],
        "n": lambda one: str(one["n"]),
        "difference": lambda one: points(one["difference"]["value"]),
        "95 %": _bounds,
        "only here : only there": lambda one: f"{one['only_cell']} : {one['only_base']}",
        "p": lambda one: p_value(one["p"]),
        "p (Holm)": lambda one: p_value(one.get("p_holm")),
    }
    note = (
        "Each cell less the first of its block, in percentage points over the questions that both "
        "have. p: exact McNemar test of the questions that only one of them has right; where these "
        "are fewer than six, it cannot be below .05 whatever the cells are. Holm: corrected over "
        "all rows of the same figure."
    )
    return table_of("Contrasts", contrasts, columns, note)


def _bounds(contrast: Row) -> str:
    low, high = contrast["difference"]["low"], contrast["difference"]["high"]
    return "–" if low is None else f"{points(low)} to {points(high)}"


def _type_table(rows: Sequence[Row]) -> Table:
    kinds = list(dict.fromkeys(kind for row in rows for kind in row["by_type"]))
    lines = []
    for row in rows:
        for name in (name for name in FIGURES if name in row["shares"]):
            shares = [row["by_type"].get(kind, {}).get(name) for kind in kinds]
            cells = [f"{percent(one['value'])} ({one['n']})" if one else "–" for one in shares]
            lines.append((row["label"], FIGURES[name], *cells))
    return Table("By type of question", ("", "figure", *kinds), lines, "Percent (n).")


def _cost_table(rows: Sequence[Row], costs: Row) -> Table:
    return Table(
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
