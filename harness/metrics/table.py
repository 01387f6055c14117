"""The official metrics of a whole run, with their denominators. Pure.

`overall` and `by_type` count every selected question, a missing hypothesis as 0; `present` counts
only questions with a hypothesis, as the official scripts do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.datasets.categories import LOCOMO_CATEGORIES
from harness.metrics.locomo_f1 import locomo_f1
from harness.metrics.refined_scores import refined_scores
from harness.records.digest import QuestionDigest

Scores = dict[str, float]
Lines = Mapping[str, Mapping[str, Any]]
# The order of the official report.
_TYPES = [LOCOMO_CATEGORIES[number] for number in (4, 1, 2, 3, 5)]


def metric_table(
    dataset: str, questions: Sequence[QuestionDigest], hypotheses: Lines
) -> dict[str, Any] | None:
    """Every metric the data set defines, or None for one that defines none."""
    family = _family(dataset, questions)
    if family is None:
        return None
    name, names, _ = family
    scored = scores_by_question(dataset, questions, hypotheses)
    zero = dict.fromkeys(names, 0.0)
    rows = [(q, scored.get(q.question_id, zero)) for q in questions]
    types = [kind for kind in _TYPES if any(q.question_type == kind for q in questions)]
    return {
        "metric": name,
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
    family = _family(dataset, questions)
    if family is None:
        return {}
    _, _, score = family
    return {
        question.question_id: score(question, hypotheses[question.question_id]["hypothesis"])
        for question in questions
        if question.question_id in hypotheses
    }


def _family(
    dataset: str, questions: Sequence[QuestionDigest]
) -> tuple[str, tuple[str, ...], Callable[[QuestionDigest, str], Scores]] | None:
    if dataset == "locomo-refined":
        return "locomo-refined", ("f1", "bleu1"), _refined
    if questions and {q.question_type for q in questions} <= set(LOCOMO_CATEGORIES.values()):
        return "locomo", ("f1",), _locomo
    return None


def _locomo(question: QuestionDigest, hypothesis: str) -> Scores:
    return {"f1": locomo_f1(question.question_type, hypothesis, question.answer)}


def _refined(question: QuestionDigest, hypothesis: str) -> Scores:
    return refined_scores(hypothesis, question.answers)._asdict()


def _means(names: Iterable[str], rows: Iterable[Scores]) -> dict[str, Any]:
    known = list(rows)
    n = len(known)
    return {
        name: {"value": sum(row[name] for row in known) / n if n else None, "n": n}
        for name in names
    }
