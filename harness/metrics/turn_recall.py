"""Retrieval by turn id, for data that names its evidence so (LoCoMo): all categories.

`strict` looks for the turns that exist, in whatever notation the file names them. `official` is the
benchmark's share of evidence ids exactly as they stand in the file, in its two conventions: a
question without evidence counts 1 in the mean over questions, but 0 in the means by category. At k
the first k rounds of the ranking are looked at.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from harness.datasets.questions import LOCOMO_CATEGORIES
from harness.metrics.per_question import tells_rounds
from harness.metrics.retrieval_metrics import (
    Figures,
    means_of,
    recall_all_at_k,
    recall_any_at_k,
    recall_fraction_at_k,
)
from harness.records.digest import QuestionDigest
from harness.records.schema import RankedLine

CUT_OFFS = (1, 5, 10, 25, 50)
Lines = Mapping[str, RankedLine]
Measure = Callable[[QuestionDigest], dict[str, float]]


class Scopes(TypedDict):
    """Figures of all questions, and by type."""

    overall: Figures
    by_type: dict[str, Figures]


class OfficialScopes(Scopes):
    """With the mean over questions in its own convention."""

    per_question: Figures


class TurnTable(TypedDict):
    """Retrieval by turn id; `official` is LoCoMo's, None for other data."""

    strict: Scopes
    official: OfficialScopes | None
    without_evidence: int
    evidence_not_found: int


def turn_recall_table(questions: Sequence[QuestionDigest], lines: Lines) -> TurnTable | None:
    """The figures of the questions that were searched; None where no evidence is named by turn."""
    searched = [
        q for q in questions if q.question_id in lines and tells_rounds(lines[q.question_id])
    ]
    if not any(q.evidence_ids for q in searched):
        return None
    found = [q for q in searched if q.evidence_turn_ids]

    def strict(question: QuestionDigest) -> dict[str, float]:
        return turn_figures(question, lines[question.question_id])

    return {
        "strict": _by_type(found, strict),
        "official": _official_scopes(searched, lines) if _is_locomo(questions) else None,
        "without_evidence": sum(not q.evidence_ids for q in searched),
        "evidence_not_found": sum(bool(q.evidence_ids) for q in searched) - len(found),
    }


def _is_locomo(questions: Sequence[QuestionDigest]) -> bool:
    return {q.question_type for q in questions} <= set(LOCOMO_CATEGORIES.values())


def _official_scopes(searched: Sequence[QuestionDigest], lines: Lines) -> OfficialScopes:
    def official(question: QuestionDigest) -> dict[str, float]:
        return _official(question, lines[question.question_id], without_evidence=0.0)

    per_question = means_of(
        _official(q, lines[q.question_id], without_evidence=1.0) for q in searched
    )
    return OfficialScopes(**_by_type(searched, official), per_question=per_question)


def turn_figures(question: QuestionDigest, line: RankedLine) -> dict[str, float]:
    """Recall of the evidence turns that exist, at every cut-off."""
    figures: dict[str, float] = {}
    wanted = question.evidence_turn_ids
    for k in CUT_OFFS:
        top = _turns(line, k)
        figures[f"recall_all@{k}"] = recall_all_at_k(top, wanted, len(top))
        figures[f"recall_any@{k}"] = recall_any_at_k(top, wanted, len(top))
        figures[f"recall_fraction@{k}"] = recall_fraction_at_k(top, wanted, len(top))
    return figures


def _official(
    question: QuestionDigest, line: RankedLine, *, without_evidence: float
) -> dict[str, float]:
    figures: dict[str, float] = {}
    wanted = question.evidence_ids
    for k in CUT_OFFS:
        top = set(_turns(line, k))
        share = sum(name in top for name in wanted) / len(wanted) if wanted else without_evidence
        figures[f"recall@{k}"] = share
    return figures


def _turns(line: RankedLine, k: int) -> list[str]:
    return [name for item in line["ranked_rounds"][:k] for name in item.get("turn_ids", ())]


def _by_type(questions: Sequence[QuestionDigest], measure: Measure) -> Scopes:
    types = sorted({q.question_type for q in questions})
    return {
        "overall": means_of(map(measure, questions)),
        "by_type": {
            name: means_of(measure(q) for q in questions if q.question_type == name)
            for name in types
        },
    }
