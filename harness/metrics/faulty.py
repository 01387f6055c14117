"""Figures with and without the questions whose reference a dossier calls faulty."""

from collections.abc import Callable, Sequence
from typing import TypedDict

from harness.metrics.retrieval_metrics import session_figures
from harness.records.digest import QuestionDigest
from harness.records.run_dir import RunLines, outcome_of
from harness.records.schema import FaultyLine
from harness.statistics.intervals import Share, proportion

_RECALL = ("recall_all@5", "recall_all@10")


class WithAndWithout(TypedDict):
    all: Share
    without: Share


class FaultyTable(TypedDict):
    """`faults` are those of selected questions; the judge's figures only of a judged run."""

    faults: list[FaultyLine]
    figures: dict[str, WithAndWithout]


def faulty_table(lines: RunLines, *, judged: bool) -> FaultyTable | None:
    """None without a dossier, or where it names none of these questions."""
    if not lines.faulty:
        return None
    figures: dict[str, WithAndWithout] = {}
    if judged:
        figures["accuracy"] = _both(lines, lines.questions, _is_right(lines))
    ranked = [q for q in lines.questions if _is_ranked(q, lines)]
    for name in _RECALL if ranked else ():
        figures[name] = _both(lines, ranked, _has_all(lines, name))
    return {"faults": list(lines.faulty.values()), "figures": figures}


def _both(
    lines: RunLines,
    questions: Sequence[QuestionDigest],
    passes: Callable[[QuestionDigest], bool],
) -> WithAndWithout:
    sound = [q for q in questions if q.question_id not in lines.faulty]
    return {
        "all": proportion(sum(map(passes, questions)), len(questions)),
        "without": proportion(sum(map(passes, sound)), len(sound)),
    }


def _is_right(lines: RunLines) -> Callable[[QuestionDigest], bool]:
    return lambda question: outcome_of(question, lines) == "yes"


def _is_ranked(question: QuestionDigest, lines: RunLines) -> bool:
    has_evidence = bool(question.evidence_session_ids) and not question.is_abstention
    return has_evidence and question.question_id in lines.retrieval


def _has_all(lines: RunLines, name: str) -> Callable[[QuestionDigest], bool]:
    return lambda q: session_figures(q, lines.retrieval[q.question_id])[name] == 1
