"""What a benchmark's own scripts would print of a run, as rows of text. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.report.table import Table, percent

_K = (5, 10, 25, 50)
# How many questions a note names.
_NAMED = 10


def official_accuracy_table(report: Mapping[str, Any]) -> list[Table]:
    """LongMemEval's accuracies by its own definitions, where there are any."""
    official = (report["accuracy"] or {}).get("official")
    if not official:
        return []
    named = [("overall", official["overall"]), *official["by_type"].items()]
    named.append(("abstention", official["abstention"]))
    rows = [(name, percent(cell["value"]), str(cell["n"])) for name, cell in named if cell["n"]]
    average = official["task_averaged"]
    value = "NaN" if average["value"] is None else percent(average["value"])
    rows.insert(1, ("task-averaged", value, f"{average['n']} types"))
    note = (
        f"Over the answers that are there: {len(official['skipped'])} questions without one are "
        f"not counted{_named(official['skipped'])}. Any reply with a yes in it is right; a type "
        "without answers makes the average NaN. For setting beside published figures only if the "
        "judge is the official one."
    )
    header = ("official-compatible", "right", "n")
    return [Table("Accuracy by the official definitions, %", header, rows, note, is_detail=True)]


def _named(ids: Sequence[str]) -> str:
    """So many ids in brackets, nothing for none."""
    if not ids:
        return ""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f" ({', '.join(ids[:_NAMED])}{more})"


def metric_tables(report: Mapping[str, Any]) -> list[Table]:
    """F1 and BLEU by the benchmark's own definition."""
    table = report["official_metrics"]
    if not table:
        return []
    scopes = [(f"all, {table['missing']} missing count 0", table["overall"])]
    scopes += [("answerable", table["answerable"]), *table["by_type"].items()]
    scopes.append(("official: answers that are there", table["present"]))
    names = list(table["overall"])
    rows = [
        (scope, *(percent(cells[name]["value"]) for name in names), str(cells[names[0]]["n"]))
        for scope, cells in scopes
    ]
    note = "Words compared with words, no judge; adversarial questions want a refusal in set words."
    title = f"Official metrics of {table['metric']}, %"
    return [Table(title, ("questions", *names, "n"), rows, note if "f1" in names else "")]


def turn_tables(retrieval: Mapping[str, Any]) -> list[Table]:
    """Retrieval of evidence by turn id, by category."""
    turn = retrieval["turn"]
    if not turn:
        return []
    strict = [("overall", turn["strict"]["overall"]), *turn["strict"]["by_type"].items()]
    rows = [
        (f"{name}: {metric}", *_cells(cells, f"{metric}@{{k}}"))
        for name, cells in strict
        for metric in ("recall_fraction", "recall_all")
    ]
    header = ("evidence turns", *(f"@{k}" for k in _K), "n")
    note = (
        f"All categories. Left out: {turn['without_evidence']} questions without evidence, "
        f"{turn['evidence_not_found']} whose evidence names no turn that exists."
    )
    official = turn["official"]
    named = [("mean over questions", official["per_question"]), *official["by_type"].items()]
    official_rows = [(name, *_cells(cells, "recall@{k}")) for name, cells in named if cells]
    official_note = (
        "Share of the evidence ids as they stand in the file. A question without evidence counts "
        "1 in the mean over questions and 0 in its category."
    )
    return [
        Table("Retrieval by turn, %", header, rows, note),
        Table(
            "Retrieval by turn, official, %", header, official_rows, official_note, is_detail=True
        ),
    ]


def _cells(figures: Mapping[str, Any], pattern: str) -> tuple[str, ...]:
    cells = [figures[pattern.format(k=k)] for k in _K]
    return (*(percent(cell["value"]) for cell in cells), str(cells[0]["n"]))
