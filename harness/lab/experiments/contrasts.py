"""The figures of each cell by question, and the contrasts between the cells of one block.

A figure is right or wrong for each question, so two cells are compared by the questions that only
one of them has right (exact McNemar test). All p-values of one figure, over all blocks, are
corrected after Holm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.comparison.paired import paired_figure, question_figures
from harness.comparison.runs import ComparedRun
from harness.datasets.selection import by_type_or_abstention
from harness.lab.experiments.cells import Cell
from harness.records.digest import QuestionDigest
from harness.records.run_dir import outcome_of
from harness.statistics.intervals import bootstrap_mean, proportion
from harness.statistics.paired_tests import holm

Row = dict[str, Any]
RECALL, EVIDENCE, RIGHT = "recall_all@5", "evidence_in_prompt", "accuracy"
FIGURES = {RECALL: "R@5", EVIDENCE: "evidence read", RIGHT: "right"}


@dataclass(frozen=True)
class FinishedCell:
    """A finished cell and its run."""

    cell: Cell
    run: ComparedRun

    @property
    def level(self) -> str:
        """The unit whose retrieval is counted: rounds where rounds are ranked, else sessions."""
        return "round" if self.cell.level == "round" else "session"

    @cached_property
    def values(self) -> Mapping[str, Mapping[str, float]]:
        """Each figure by question id, over the questions that it is counted of."""
        known = question_figures(self.run)
        recall = "round.recall_all@5" if self.level == "round" else "recall_all@5"
        found = {
            RECALL: {} if self.cell.is_found_before else known.get(recall, {}),
            EVIDENCE: known.get(EVIDENCE, {}),
            RIGHT: self._right() if self.run.is_judged else {},
        }
        return {name: values for name, values in found.items() if values}

    def _right(self) -> dict[str, float]:
        """1 for a right answer, by question id. A missing answer is wrong; an unscored question is
        left out."""
        outcomes = {q.question_id: outcome_of(q, self.run.lines) for q in self.run.lines.questions}
        return {id: float(said == "yes") for id, said in outcomes.items() if said != "unscored"}

    def share(self, figure: str, of: Sequence[QuestionDigest] | None = None) -> Row | None:
        """A figure over these questions (by default all), with its n and interval. The interval is
        Wilson's, or drawn by history where questions share histories.
        """
        values = self.values.get(figure, {})
        questions = self.run.lines.questions if of is None else of
        counted = [q for q in questions if q.question_id in values]
        if not counted:
            return None
        said = [values[q.question_id] for q in counted]
        share: Row = {**proportion(round(sum(said)), len(said))}
        histories = [q.history_id for q in counted]
        if len(set(histories)) < len(histories):
            share["low"], share["high"] = bootstrap_mean(said, histories) or (None, None)
        return share

    def by_type(self) -> dict[str, Row]:
        """The figures of the questions of each type, and of abstention."""
        groups = by_type_or_abstention(self.run.lines.questions)
        rows = {
            kind: {name: self.share(name, members) for name in FIGURES}
            for kind, members in groups.items()
        }
        return {kind: row for kind, row in rows.items() if any(row.values())}


def contrasts_of(cells: Sequence[FinishedCell]) -> list[Row]:
    """Compare each cell with the first cell of its block that has the figure; for recall, with the
    first one of the same level."""
    found: list[Row] = []
    for figure in FIGURES:
        bases: dict[tuple[str, str], FinishedCell] = {}
        rows = []
        for one in cells:
            if figure not in one.values:
                continue
            base = bases.setdefault((one.cell.block, one.level if figure == RECALL else ""), one)
            if base is not one:
                rows.append(_contrast(figure, base, one))
        tested = [row for row in rows if row["p"] is not None]
        for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
            row["p_holm"] = p
        found += rows
    return found


def _contrast(figure: str, base: FinishedCell, other: FinishedCell) -> Row:
    was, now = base.values[figure], other.values[figure]
    shared = [id for id in was if id in now]
    return {
        "figure": figure,
        "block": other.cell.block,
        "cell": other.cell.name,
        "label": other.cell.label,
        "base": base.cell.name,
        "base_label": base.cell.label,
        "only_base": sum(was[id] > now[id] for id in shared),
        "only_cell": sum(now[id] > was[id] for id in shared),
        **paired_figure(was, now, base.run.lines.questions),
    }
