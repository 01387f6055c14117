"""Accuracy as LongMemEval's own scripts print it, beside ours. Pure.

They count the lines that are there: a question answered twice counts twice, one without an answer
not at all. A judge's reply is right if it contains `yes` anywhere, and a question is an abstention
question if its id contains `_abs` anywhere. The task average is over all six types and does not
exist (NaN there, None here) when one of them has no line.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.datasets.categories import LONGMEMEVAL_TYPES
from harness.datasets.official_ids import is_official_abstention
from harness.records.digest import QuestionDigest

Lines = Mapping[str, Mapping[str, Any]]
# Judges whose raw reply is what the official scripts would have read.
_REPLYING = "longmemeval"


def official_accuracy(
    questions: Sequence[QuestionDigest], hypotheses: Lines, verdicts: Lines
) -> dict[str, Any] | None:
    """The official figures, each with its n; None for data that is not LongMemEval's."""
    if not {question.question_type for question in questions} <= set(LONGMEMEVAL_TYPES):
        return None
    labels = [
        (question, label)
        for question in questions
        if question.question_id in hypotheses
        and (label := official_label(verdicts.get(question.question_id))) is not None
        for _ in range(int(hypotheses[question.question_id].get("lines", 1)))
    ]
    by_type = {
        kind: _mean([label for question, label in labels if question.question_type == kind])
        for kind in LONGMEMEVAL_TYPES
    }
    values = [cell["value"] for cell in by_type.values()]
    known = [value for value in values if value is not None]
    average = sum(known) / len(values) if len(known) == len(values) else None
    return {
        "overall": _mean([label for _, label in labels]),
        "task_averaged": {"value": average, "n": len(values)},
        "abstention": _mean(
            [label for q, label in labels if is_official_abstention(q.question_id)]
        ),
        "by_type": by_type,
        "skipped": [q.question_id for q in questions if q.question_id not in hypotheses],
    }


def official_label(verdict: Mapping[str, Any] | None) -> bool | None:
    """What the official scorer makes of a judge's first reply; other judges keep their verdict.
    None where there was no reply.
    """
    if verdict is None or "error" in verdict:
        return None
    if str(verdict.get("judge", "")).startswith(_REPLYING):
        return "yes" in str(verdict.get("first_reply", verdict.get("raw", ""))).lower()
    return bool(verdict.get("verdict") == "yes")


def _mean(labels: Sequence[bool]) -> dict[str, Any]:
    n = len(labels)
    return {"value": sum(labels) / n if n else None, "n": n}
