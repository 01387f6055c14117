"""The official metrics of a whole run, with their denominators.

`overall` and `by_type` count every selected question, a missing hypothesis as 0; `present` counts
only questions with a hypothesis, as the official scripts do.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from harness.datasets.benchmark import OfficialMetrics
from harness.datasets.questions import LOCOMO_CATEGORIES
from harness.datasets.registry import BENCHMARKS
from harness.metrics.retrieval_metrics import Figures
from harness.records.digest import QuestionDigest
from harness.statistics.intervals import mean_of

Scores = dict[str, float]


class MetricTable(TypedDict):
    metric: str
    missing: int
    overall: Figures
    present: Figures
    answerable: Figures
    by_type: dict[str, Figures]


Lines = Mapping[str, Mapping[str, Any]]
# The order of the official report.
_TYPES = [LOCOMO_CATEGORIES[number] for number in (4, 1, 2, 3, 5)]


def metric_table(
    dataset: str, questions: Sequence[QuestionDigest], hypotheses: Lines
) -> MetricTable | None:
    """Every metric the data set defines, or None for one that defines none."""
    metrics = _metrics_of(dataset, questions)
    if metrics is None:
        return None
    names = metrics.figures
    scored = scores_by_question(dataset, questions, hypotheses)
    zero = dict.fromkeys(names, 0.0)
    rows = [(q, scored.get(q.question_id, zero)) for q in questions]
    types = [kind for kind in _TYPES if any(q.question_type == kind for q in questions)]
    return {
        "metric": metrics.name,
        "missing": len(questions) - len(scored),
        "overall": _means(names, (row for _, row in rows)),
        "present": _means(names, scored.values()),
        "answerable": _means(names, (row for q, row in rows if not q.is_abstention)),
        "by_type": {
            kind: _means(names, (row for q, row in rows if q.question_type == kind))
            for kind in types
        },
    }


def scores_by_question(
    dataset: str, questions: Sequence[QuestionDigest], hypotheses: Lines
) -> dict[str, Scores]:
    """The scores of every question with a hypothesis; {} where the data set defines none."""
    metrics = _metrics_of(dataset, questions)
    if metrics is None:
        return {}
    return {
        question.question_id: metrics.scores(
            question, hypotheses[question.question_id]["hypothesis"]
        )
        for question in questions
        if question.question_id in hypotheses
    }


def _metrics_of(dataset: str, questions: Sequence[QuestionDigest]) -> OfficialMetrics | None:
    """The metrics of the data set, else those of a benchmark whose question types it shares."""
    own = BENCHMARKS[dataset].metrics if dataset in BENCHMARKS else None
    if own is not None and not own.types:
        return own
    kinds = {question.question_type for question in questions}
    declared = (one.metrics for one in BENCHMARKS.values() if one.metrics is not None)
    return next((metrics for metrics in declared if kinds and kinds <= metrics.types), None)


def _means(names: Iterable[str], rows: Iterable[Scores]) -> Figures:
    known = list(rows)
    return {name: mean_of(row[name] for row in known) for name in names}
