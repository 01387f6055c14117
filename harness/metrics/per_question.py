"""What lines of `retrieval.jsonl` say: the figures of a single question, and of the sources that
answers named what they tell and do not tell.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypedDict

from harness.metrics.effort import percentile
from harness.metrics.retrieval_metrics import (
    CUT_OFFS,
    ndcg_at_k,
    recall_all_at_k,
    recall_any_at_k,
    recall_fraction_at_k,
)
from harness.records.digest import QuestionDigest, round_name
from harness.records.schema import RankedLine, RankedRound, RetrievalLine
from harness.text import characters_of

CONTEXT_BUDGETS = (7000, 16000)

Figures = dict[str, float]


def session_figures(question: QuestionDigest, line: RankedLine) -> Figures:
    """Recall and NDCG of the evidence sessions at every cut-off."""
    ranked = list(dict.fromkeys(item["session_id"] for item in line["ranked_sessions"]))
    return _figures(ranked, question.evidence_session_ids)


def round_figures(question: QuestionDigest, line: RankedLine) -> Figures:
    """The same of the rounds with a labelled turn, where the line tells rounds."""
    ranked = [round_name(r["position"], r["round_index"]) for r in line["ranked_rounds"]]
    return _figures(ranked, question.evidence_rounds)


def fits_context(question: QuestionDigest, line: RankedLine, tokens: int) -> bool:
    """Whether all evidence sessions occur among the best rounds that fit `tokens` together."""
    return set(question.evidence_session_ids) <= sessions_in_budget(line, tokens)


def sessions_in_budget(line: RankedLine, tokens: int) -> set[str]:
    """Ids of the sessions whose rounds come first in the ranking and fit `tokens` together.

    Rounds are taken whole, in rank order, until the first that no longer fits.
    """
    return {item["session_id"] for item in rounds_in_budget(line, tokens)}


def rounds_in_budget(line: RankedLine, tokens: int) -> list[RankedRound]:
    """The first rounds of the ranking, as many as fit."""
    left = characters_of(tokens)
    taken: list[RankedRound] = []
    for item in line["ranked_rounds"]:
        left -= item["characters"] or 0
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


# `empty`: a list without sources. `unplaced`: none of them fits the history.
STATES = ("placed", "empty", "unplaced", "unreadable", "not returned")


class SourceCounts(TypedDict):
    """How many sources an answer names."""

    p50: float | None
    max: int | None


class SourcesTable(TypedDict):
    """What became of the sources that answers named; `answers` and `placed_by` by their names."""

    answers: dict[str, int]
    returned: int
    placed_by: dict[str, int]
    unplaced: int
    rounds_unknown: int
    a_question: SourceCounts
    problem: str | None


def tells_rounds(line: RankedLine) -> bool:
    """Whether a line ranks rounds, not only sessions."""
    return "sources" not in line or bool(line["sources"]["tells_rounds"])


def tells_context(line: RankedLine) -> bool:
    """Whether a line says how long each ranked text is."""
    return "sources" not in line or bool(line["sources"]["tells_context"])


def sources_table(lines: Iterable[RankedLine | RetrievalLine]) -> SourcesTable | None:
    """Answers by the state of their sources, sources by what placed them; None where nobody looked
    for sources.
    """
    accounts = [line["sources"] for line in lines if "sources" in line]
    if not accounts:
        return None
    states = Counter(account["state"] for account in accounts)
    by: Counter[str] = Counter()
    for account in accounts:
        by.update(account["by"])
    lengths = [a["returned"] for a in accounts if a["state"] in ("placed", "empty", "unplaced")]
    problems = [account["problem"] for account in accounts if account["problem"]]
    return {
        "answers": {"n": len(accounts), **{state: states[state] for state in STATES}},
        "returned": sum(lengths),
        "placed_by": dict(by),
        "unplaced": sum(account["unplaced"] for account in accounts),
        "rounds_unknown": sum(a["state"] == "placed" and not a["tells_rounds"] for a in accounts),
        "a_question": {"p50": percentile(lengths, 0.5), "max": max(lengths, default=None)},
        "problem": Counter(problems).most_common(1)[0][0] if problems else None,
    }
