"""Per-question figures of one run that can be set beside another run's."""

from collections.abc import Callable, Mapping

from harness.comparison.runs import ComparedRun
from harness.metrics.official_scores import scores_by_question
from harness.metrics.per_question import (
    CONTEXT_BUDGETS,
    fits_context,
    round_figures,
    session_figures,
    tells_context,
    tells_rounds,
)
from harness.metrics.turn_recall import turn_figures
from harness.records.digest import QuestionDigest
from harness.records.schema import RankedLine

Values = dict[str, float]
_SESSION = (
    *("recall_all@5", "recall_all@10", "recall_any@5", "recall_fraction@5", "recall_fraction@10"),
    *("ndcg@5[standard]", "ndcg@10[standard]"),
)
_ROUND = (
    *("recall_all@5", "recall_all@10", "recall_fraction@5", "recall_fraction@10"),
    *("ndcg@5[standard]", "ndcg@10[standard]"),
)
_TURN = ("recall_fraction@5", "recall_fraction@10", "recall_all@10")


def question_figures(run: ComparedRun) -> dict[str, Values]:
    """Each figure's values by question id, over the questions that its report counts.

    A missing answer scores 0 in the official metrics.
    """
    figures = _retrieval_figures(run)
    prompts = run.lines.prompts.items()
    figures["evidence_in_prompt"] = {
        key: float(all(turn["found"] for turn in line["evidence_turns"]))
        for key, line in prompts
        if line["evidence_turns"]
    }
    figures |= _official_figures(run)
    return {name: values for name, values in figures.items() if values}


def _retrieval_figures(run: ComparedRun) -> dict[str, Values]:
    figures: dict[str, Values] = {}

    def add(question: QuestionDigest, prefix: str, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            figures.setdefault(f"{prefix}{name}", {})[question.question_id] = value

    for question in run.lines.questions:
        line = run.lines.retrieval.get(question.question_id)
        if line is None:
            continue
        for prefix, measure in _LEVELS.items():
            add(question, prefix, measure(question, line))
    return figures


def _session(question: QuestionDigest, line: RankedLine) -> Values:
    if question.is_abstention or not question.evidence_session_ids:
        return {}
    figures = _only(_SESSION, session_figures(question, line))
    if tells_context(line):
        for budget in CONTEXT_BUDGETS:
            figures[f"evidence_in_context@{budget}"] = float(fits_context(question, line, budget))
    return figures


def _round(question: QuestionDigest, line: RankedLine) -> Values:
    if question.is_abstention or not question.evidence_rounds or not tells_rounds(line):
        return {}
    return _only(_ROUND, round_figures(question, line))


def _turn(question: QuestionDigest, line: RankedLine) -> Values:
    if not question.evidence_turn_ids or not tells_rounds(line):
        return {}
    return _only(_TURN, turn_figures(question, line))


_LEVELS: dict[str, Callable[[QuestionDigest, RankedLine], Values]] = {
    "": _session,
    "round.": _round,
    "turn.": _turn,
}


def _official_figures(run: ComparedRun) -> dict[str, Values]:
    if not run.lines.hypotheses:
        return {}
    scores = scores_by_question(run.report["dataset"], run.lines.questions, run.lines.hypotheses)
    names = {name for values in scores.values() for name in values}
    return {
        name: {
            question.question_id: scores.get(question.question_id, {}).get(name, 0.0)
            for question in run.lines.questions
        }
        for name in sorted(names)
    }


def _only(names: tuple[str, ...], figures: Mapping[str, float]) -> Values:
    return {name: figures[name] for name in names}
