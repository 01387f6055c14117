"""Retrieval figures of a whole run: means of the metrics with their definitions and denominators.

`session` and `round` are the strict figures: answerable questions only, targets from the evidence
labels. `official` repeats LongMemEval's own definitions, including its two denominators.

`turn` is for data that names its evidence by turn ids (LoCoMo), over all categories. `strict` looks
for the turns that exist, in whatever notation the file names them. `official` is the benchmark's
share of evidence ids exactly as they stand in the file, in its two conventions: a question without
evidence counts 1 in the mean over questions, but 0 in the means by category. A figure at k looks at
the first k rounds of the ranking.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NotRequired, TypedDict

from harness.datasets.questions import LOCOMO_CATEGORIES, is_official_abstention
from harness.datasets.selection import by_type
from harness.metrics.retrieval_metrics import (
    CONTEXT_BUDGETS,
    CUT_OFFS,
    Figures,
    SourcesTable,
    fits_context,
    means_of,
    official_figures,
    recall_all_at_k,
    recall_any_at_k,
    recall_fraction_at_k,
    round_figures,
    session_figures,
    session_view,
    tells_context,
    tells_rounds,
    without_turn,
)
from harness.records.digest import QuestionDigest
from harness.records.schema import RankedLine, RankedRound, RankedSession
from harness.statistics.intervals import mean_of

Lines = Mapping[str, RankedLine]
TURN_CUT_OFFS = (1, 5, 10, 25, 50)
Measure = Callable[[QuestionDigest, RankedLine], dict[str, float]]


class Scopes(TypedDict):
    overall: Figures
    by_type: dict[str, Figures]


class OfficialScopes(Scopes):
    """`per_question` is the mean over questions, in its own convention (see the module)."""

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
    is_locomo = {q.question_type for q in questions} <= set(LOCOMO_CATEGORIES.values())
    return {
        "strict": _scopes(found, lines, turn_figures),
        "official": _official_scopes(searched, lines) if is_locomo else None,
        "without_evidence": sum(not q.evidence_ids for q in searched),
        "evidence_not_found": sum(bool(q.evidence_ids) for q in searched) - len(found),
    }


def _official_scopes(searched: Sequence[QuestionDigest], lines: Lines) -> OfficialScopes:
    scopes = _scopes(searched, lines, partial(_official_shares, without_evidence=0.0))
    per_question = _means(searched, lines, partial(_official_shares, without_evidence=1.0))
    return OfficialScopes(**scopes, per_question=per_question)


def turn_figures(question: QuestionDigest, line: RankedLine) -> dict[str, float]:
    """Recall of the evidence turns that exist, at every cut-off."""
    figures: dict[str, float] = {}
    wanted = question.evidence_turn_ids
    for k in TURN_CUT_OFFS:
        top = _turns(line, k)
        figures[f"recall_all@{k}"] = recall_all_at_k(top, wanted, len(top))
        figures[f"recall_any@{k}"] = recall_any_at_k(top, wanted, len(top))
        figures[f"recall_fraction@{k}"] = recall_fraction_at_k(top, wanted, len(top))
    return figures


def _official_shares(
    question: QuestionDigest, line: RankedLine, *, without_evidence: float
) -> dict[str, float]:
    figures: dict[str, float] = {}
    wanted = question.evidence_ids
    for k in TURN_CUT_OFFS:
        top = set(_turns(line, k))
        share = sum(name in top for name in wanted) / len(wanted) if wanted else without_evidence
        figures[f"recall@{k}"] = share
    return figures


def _turns(line: RankedLine, k: int) -> list[str]:
    return [name for item in line["ranked_rounds"][:k] for name in item.get("turn_ids", ())]


def _means(questions: Iterable[QuestionDigest], lines: Lines, measure: Measure) -> Figures:
    return means_of(measure(q, lines[q.question_id]) for q in questions)


def _scopes(questions: Sequence[QuestionDigest], lines: Lines, measure: Measure) -> Scopes:
    return {
        "overall": _means(questions, lines, measure),
        "by_type": {
            name: _means(members, lines, measure) for name, members in by_type(questions).items()
        },
    }


_CONVERTED_CUT_OFFS = (5, 10)
# The budgets, in tokens, of a report's curve; at most 50 rounds are ranked.
CURVE_BUDGETS = (1000, 2000, 4000, 7000, 16000, 32000)


class Excluded(TypedDict):
    """Counts of the questions that are left out of the denominators, by reason."""

    not_searched: int
    abstention: int
    without_evidence_sessions: int
    without_labelled_round: int
    without_ranked_rounds: int


class RetrievalTable(TypedDict):
    session: Figures
    round: Figures
    by_type: dict[str, Figures]
    round_by_type: dict[str, Figures]
    evidence_in_context: Figures
    evidence_by_budget: Figures
    official: dict[str, dict[str, Figures]] | None
    turn: TurnTable | None
    excluded: Excluded
    sources: NotRequired[SourcesTable | None]


def retrieval_table(questions: Sequence[QuestionDigest], lines: Lines) -> RetrievalTable:
    """All retrieval figures of a run; `lines` is `retrieval.jsonl` by question id.

    Questions without a line (never searched, or no ranking told) are counted in `not_searched` and
    are in no denominator.
    """
    searched = [question for question in questions if question.question_id in lines]
    answerable = [question for question in searched if not question.is_abstention]
    with_sessions = [question for question in answerable if question.evidence_session_ids]
    with_rounds = [
        q for q in answerable if q.evidence_rounds and tells_rounds(lines[q.question_id])
    ]
    in_context = [q for q in with_sessions if tells_context(lines[q.question_id])]
    turns = turn_recall_table(questions, lines)
    sessions = _scopes(with_sessions, lines, session_figures)
    rounds = _scopes(with_rounds, lines, round_figures)
    return {
        "session": sessions["overall"],
        "round": rounds["overall"],
        "by_type": sessions["by_type"],
        "round_by_type": rounds["by_type"],
        "evidence_in_context": _evidence_in_context(in_context, lines, CONTEXT_BUDGETS),
        "evidence_by_budget": _evidence_in_context(in_context, lines, CURVE_BUDGETS),
        "official": None if turns else _official(answerable, lines),
        "turn": turns,
        "excluded": {
            "not_searched": len(questions) - len(searched),
            "abstention": len(searched) - len(answerable),
            "without_evidence_sessions": len(answerable) - len(with_sessions),
            "without_labelled_round": sum(not q.evidence_rounds for q in answerable),
            "without_ranked_rounds": sum(
                not tells_rounds(lines[q.question_id]) for q in answerable
            ),
        },
    }


def _evidence_in_context(
    questions: Sequence[QuestionDigest], lines: Lines, budgets: Sequence[int]
) -> Figures:
    return {
        str(budget): mean_of(fits_context(q, lines[q.question_id], budget) for q in questions)
        for budget in budgets
    }


def _official(answerable: Sequence[QuestionDigest], lines: Lines) -> dict[str, dict[str, Figures]]:
    """The figures with both official denominators: `run_script` skips questions without a target,
    `printing_script` counts them.
    """
    printed = [q for q in answerable if not is_official_abstention(q.question_id)]
    with_target = [question for question in printed if question.official_turn_targets]
    table: dict[str, dict[str, Figures]] = {}
    for name, members in (("run_script", with_target), ("printing_script", printed)):
        table[name] = {
            level: _means(
                (q for q in members if level == "session" or tells_rounds(lines[q.question_id])),
                lines,
                measure,
            )
            for level, measure in _OFFICIAL_LEVELS.items()
        }
    return table


def _official_sessions(question: QuestionDigest, line: RankedLine) -> dict[str, float]:
    ranked = _official_ids(line["ranked_sessions"])
    return official_figures(ranked, question.official_session_targets, {k: k for k in CUT_OFFS})


def _official_turns(question: QuestionDigest, line: RankedLine) -> dict[str, float]:
    ranked = _official_ids(line["ranked_rounds"])
    return official_figures(ranked, question.official_turn_targets, {k: k for k in CUT_OFFS})


def _official_converted(question: QuestionDigest, line: RankedLine) -> dict[str, float]:
    turns = _official_ids(line["ranked_rounds"])
    views = {k: session_view(turns, k) for k in _CONVERTED_CUT_OFFS}
    targets = [without_turn(target) for target in question.official_turn_targets]
    ranked = views[_CONVERTED_CUT_OFFS[0]].ranked
    return official_figures(ranked, targets, {k: view.k for k, view in views.items()})


_OFFICIAL_LEVELS: dict[str, Measure] = {
    "session": _official_sessions,
    "turn": _official_turns,
    "turn_as_session": _official_converted,
}


def _official_ids(items: Iterable[RankedRound | RankedSession]) -> list[str]:
    return [item["official_id"] for item in items if item["official_id"] is not None]
