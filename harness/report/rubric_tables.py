"""Scores by a rubric as rows of text, both scorers side by side."""

from harness.metrics.rubric_scores import SCORERS, Scored
from harness.report.schema import Report
from harness.report.table import Table, percent


def rubric_tables(report: Report) -> list[Table]:
    """One table, where answers were scored by rubrics."""
    scores = report.get("rubric_scores")
    if not scores:
        return []
    named = [("overall", scores["overall"]), ("mean of the types", scores["averaged"])]
    named += [*scores["by_type"].items(), ("those that were scored", scores["scored"])]
    note = (
        "Mean worth of the rubric's points. Fractional: a half point is a half, an order of events "
        "is Kendall's tau-b times F1. Official, as the released scripts print it: a half point is "
        f"nothing, an order is tau-b alone. {scores['without_scores']} questions without scores "
        "count 0."
    )
    rows = [_row(name, cells) for name, cells in named]
    return [Table("Scores by rubric, %", ("questions", *SCORERS, "n"), rows, note)]


def _row(name: str, cells: Scored) -> tuple[str, ...]:
    return (name, *(percent(cells[s]["value"]) for s in SCORERS), str(cells[SCORERS[0]]["n"]))
