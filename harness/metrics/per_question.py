"""The retrieval figures of a single question, from its line of `retrieval.jsonl`. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.metrics.retrieval_metrics import (
    CUT_OFFS,
    ndcg_at_k,
    recall_all_at_k,
    recall_any_at_k,
    recall_fraction_at_k,
)
from harness.records.digest import QuestionDigest, round_name
from harness.text import characters_of

CONTEXT_BUDGETS = (7000, 16000)

Line = Mapping[str, Any]
Figures = dict[str, float]


def session_figures(question: QuestionDigest, line: Line) -> Figures:
    """Recall and NDCG of the evidence sessions at every cut-off."""
    ranked = list(dict.fromkeys(item["session_id"] for item in line["ranked_sessions"]))
    return _figures(ranked, question.evidence_session_ids)


def round_figures(question: QuestionDigest, line: Line) -> Figures:
    """The same of the rounds with a labelled turn, where the line tells rounds."""
    ranked = [round_name(r["position"], r["round_index"]) for r in line["ranked_rounds"]]
    return _figures(ranked, question.evidence_rounds)


def fits_context(question: QuestionDigest, line: Line, tokens: int) -> bool:
    """Whether all evidence sessions occur among the best rounds that fit `tokens` together."""
    return set(question.evidence_session_ids) <= sessions_in_budget(line, tokens)


def sessions_in_budget(line: Line, tokens: int) -> set[str]:
    """Ids of the sessions whose rounds come first in the ranking and fit `tokens` together.

    Rounds are taken whole, in rank order, until the first that no longer fits.
    """
    return {item["session_id"] for item in rounds_in_budget(line, tokens)}


def rounds_in_budget(line: Line, tokens: int) -> list[Line]:
    """The first rounds of the ranking, as many as fit."""
    left = characters_of(tokens)
    taken: list[Line] = []
    for item in line["ranked_rounds"]:
        left -= item["characters"]
        if left < 0:
            break
        taken.append(item)
    return taken


def _figures(ranked: Sequence[str], relevant: Sequence[str]) -> Figures:
    figures: Figures = {}
    for k in CUT_OFFS:
        figures[f"recall_all@{k}"] = recall_all_at_k(ranked, relevant, k)
        figures[f"recall_any@{k}"] = recall_any_at_k(ranked, relevant, k)
        figures[f"recall_fraction@{k}"] = recall_fraction_at_k(ranked, relevant, k)
        figures[f"ndcg@{k}[longmemeval]"] = ndcg_at_k(ranked, relevant, k, discount="longmemeval")
        figures[f"ndcg@{k}[standard]"] = ndcg_at_k(ranked, relevant, k, discount="standard")
    return figures
