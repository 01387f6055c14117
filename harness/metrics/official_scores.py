"""The official metrics of a whole run, with their denominators.

LoCoMo's F1 over stemmed words as snap-research/locomo computes it: a list answer (multi-hop) is cut
at commas on both sides, of an open-domain answer only what stands before the first semicolon
counts, and an adversarial question is right when the prediction says one of two phrases.
LoCoMo-Refined's token F1 and BLEU-1: `harness.datasets.refined_answers`.

`overall` and `by_type` count every selected question, a missing hypothesis as 0; `present` counts
only questions with a hypothesis, as the official scripts do.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from harness.datasets.questions import LOCOMO_CATEGORIES
from harness.datasets.refined_answers import refined_scores
from harness.metrics.porter import stem
from harness.metrics.retrieval_metrics import Figures
from harness.records.digest import QuestionDigest

_MULTI_HOP, _OPEN_DOMAIN, _ADVERSARIAL = (LOCOMO_CATEGORIES[number] for number in (1, 3, 5))
_REFUSALS = ("no information available", "not mentioned")
_SMALL_WORDS = re.compile(r"\b(?:a|an|the|and)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def locomo_f1(category: str, prediction: str, answer: str) -> float:
    """The score of one prediction, 0 to 1, by its question's category."""
    if category == _ADVERSARIAL:
        return float(any(phrase in prediction.lower() for phrase in _REFUSALS))
    if category == _MULTI_HOP:
        return list_f1(prediction, answer)
    if category == _OPEN_DOMAIN:
        answer = answer.split(";")[0].strip()
    return token_f1(prediction, answer)


def token_f1(prediction: str, answer: str) -> float:
    """F1 of two texts as bags of stems; 0 where they share none."""
    said, wanted = stems(prediction), stems(answer)
    shared = sum((Counter(said) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(said), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def list_f1(prediction: str, answer: str) -> float:
    """For each part of the answer its best F1 with a part of the prediction, averaged."""
    parts, wanted = prediction.split(","), answer.split(",")
    best = (max(token_f1(part, item) for part in parts) for item in wanted)
    return sum(best) / len(wanted)


def stems(text: str) -> list[str]:
    """The words of a text in lower case without punctuation and small words, stemmed."""
    plain = text.lower().translate(_NO_PUNCTUATION)
    return [stem(word) for word in _SMALL_WORDS.sub(" ", plain).split()]


Scores = dict[str, float]


class MetricTable(TypedDict):
    """Every metric that a data set defines, each by its name."""

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


def _means(names: Iterable[str], rows: Iterable[Scores]) -> Figures:
    known = list(rows)
    n = len(known)
    return {
        name: {"value": sum(row[name] for row in known) / n if n else None, "n": n}
        for name in names
    }
