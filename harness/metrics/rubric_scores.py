"""Means of the scores that answers get by a rubric, by both scorers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from harness.records.digest import QuestionDigest
from harness.records.schema import RubricScores, VerdictLine
from harness.statistics.intervals import Mean

Scorer = Literal["fractional", "official"]
SCORERS: tuple[Scorer, ...] = ("fractional", "official")
Scored = dict[str, Mean]


class RubricTable(TypedDict):
    """Mean scores; `averaged` is the mean over types, as papers print it."""

    overall: Scored
    averaged: Scored
    by_type: dict[str, Scored]
    scored: Scored
    without_scores: int


def rubric_table(
    questions: Sequence[QuestionDigest], verdicts: Mapping[str, VerdictLine]
) -> RubricTable | None:
    """Means over all selected questions, where a question without scores (missing, unscored)
    counts 0, and over the `scored` ones; None where no verdict has scores.
    """
    known = {key: line["rubric"] for key, line in verdicts.items() if "rubric" in line}
    if not known:
        return None
    rows: list[tuple[str, Mapping[str, float]]] = [
        (q.question_type, _scores(known.get(q.question_id))) for q in questions
    ]
    types = sorted({kind for kind, _ in rows})
    by_type = {kind: _means(row for name, row in rows if name == kind) for kind in types}
    present = [q for q in questions if q.question_id in known]
    return {
        "overall": _means(row for _, row in rows),
        "averaged": {
            scorer: _mean([by_type[kind][scorer]["value"] or 0.0 for kind in types])
            for scorer in SCORERS
        },
        "by_type": by_type,
        "scored": _means(_scores(known[q.question_id]) for q in present),
        "without_scores": len(questions) - len(present),
    }


def _scores(line: RubricScores | None) -> dict[str, float]:
    return {scorer: line[scorer] if line else 0.0 for scorer in SCORERS}


def _means(rows: Iterable[Mapping[str, float]]) -> Scored:
    known = list(rows)
    return {scorer: _mean([row[scorer] for row in known]) for scorer in SCORERS}


def _mean(values: Sequence[float]) -> Mean:
    return {"value": sum(values) / len(values) if values else None, "n": len(values)}
