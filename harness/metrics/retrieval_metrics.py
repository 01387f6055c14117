"""Recall and NDCG of one ranking, as pure functions over ids; and what the lines of
`retrieval.jsonl` say: the figures of a single question, and a summary of the sources that answers
named.

Two NDCG discounts exist side by side: `standard` divides the gain at rank r by log2(r + 1);
`longmemeval` is what the official scripts compute, where ranks 1 and 2 are both undiscounted and
rank r divides by log2(r).
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypedDict

from harness.metrics.effort import percentile
from harness.records.digest import QuestionDigest, round_name
from harness.records.schema import RankedLine, RankedRound, RetrievalLine
from harness.statistics.intervals import Mean, mean_of
from harness.text import characters_of

# Means by the name of their metric.
Figures = dict[str, Mean]
Discount = Literal["longmemeval", "standard"]
CUT_OFFS = (1, 3, 5, 10, 30, 50)


class SessionView(NamedTuple):
    """A ranking of turns as one of sessions: their ids, and the cut-off that applies to them."""

    ranked: list[str]
    k: int


def recall_any_at_k(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 if at least one relevant id is in the first k, else 0."""
    top = set(ranked[:k])
    return float(any(item in top for item in relevant))


def recall_all_at_k(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 if every relevant id is in the first k, else 0; 1 where nothing is relevant."""
    top = set(ranked[:k])
    return float(all(item in top for item in relevant))


def recall_fraction_at_k(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of distinct relevant ids in the first k; 1 where nothing is relevant."""
    wanted = set(relevant)
    return len(wanted & set(ranked[:k])) / len(wanted) if wanted else 1.0


def ndcg_at_k(
    ranked: Sequence[str],
    relevant: Collection[str],
    k: int,
    *,
    discount: Discount,
    relevant_items: int | None = None,
) -> float:
    """Normalised discounted cumulative gain with binary relevance; 0 where nothing is relevant.

    `relevant_items` is how many items of the corpus are relevant when ids repeat in it, by default
    the number of distinct relevant ids.
    """
    wanted = set(relevant)
    gains = [item in wanted for item in ranked[:k]]
    count = len(wanted) if relevant_items is None else relevant_items
    ideal = _dcg([True] * min(count, k), discount)
    return _dcg(gains, discount) / ideal if ideal else 0.0


def official_figures(
    ranked: Sequence[str], targets: Sequence[str], depths: Mapping[int, int]
) -> dict[str, float]:
    """The figures that LongMemEval's scripts compute of one ranking; `depths` has for each k the
    number of ranks to look at. A target counts as often as it occurs among the targets.
    """
    figures: dict[str, float] = {}
    for k, depth in depths.items():
        figures[f"recall_all@{k}"] = recall_all_at_k(ranked, targets, depth)
        figures[f"recall_any@{k}"] = recall_any_at_k(ranked, targets, depth)
        figures[f"ndcg@{k}[longmemeval]"] = ndcg_at_k(
            ranked, targets, depth, discount="longmemeval", relevant_items=len(targets)
        )
    return figures


def means_of(rows: Iterable[Mapping[str, float]]) -> Figures:
    """Means of the same figures over questions, each with its n; {} for no question."""
    known = list(rows)
    names = known[0] if known else {}
    return {name: mean_of(row[name] for row in known) for name in names}


def session_view(ranked_turns: Sequence[str], k: int) -> SessionView:
    """Turn a ranking of turns into one of sessions, as the official scripts do.

    The last `_` segment is cut from every id; repeated sessions stay in the list. The cut-off k
    grows until the top holds k distinct sessions or the ranking ends.
    """
    ranked = [without_turn(item) for item in ranked_turns]
    effective = k
    while effective < len(ranked) and len(set(ranked[:effective])) < k:
        effective += 1
    return SessionView(ranked, effective)


def without_turn(turn_id: str) -> str:
    """A turn id without its last `_` segment: the id of its session."""
    return turn_id.rpartition("_")[0] or turn_id


def _dcg(gains: Sequence[bool], discount: Discount) -> float:
    return sum(_weight(rank, discount) for rank, gain in enumerate(gains, start=1) if gain)


def _weight(rank: int, discount: Discount) -> float:
    if discount == "standard":
        return 1.0 / math.log2(rank + 1)
    return 1.0 if rank == 1 else 1.0 / math.log2(rank)


CONTEXT_BUDGETS = (7000, 16000)

QuestionFigures = dict[str, float]


def session_figures(question: QuestionDigest, line: RankedLine) -> QuestionFigures:
    """Recall and NDCG of the evidence sessions at every cut-off."""
    ranked = list(dict.fromkeys(item["session_id"] for item in line["ranked_sessions"]))
    return _figures(ranked, question.evidence_session_ids)


def round_figures(question: QuestionDigest, line: RankedLine) -> QuestionFigures:
    """Recall and NDCG of the evidence rounds, which have a labelled turn, at every cut-off."""
    ranked = [round_name(r["position"], r["round_index"]) for r in line["ranked_rounds"]]
    return _figures(ranked, question.evidence_rounds)


def fits_context(question: QuestionDigest, line: RankedLine, tokens: int) -> bool:
    """Whether all evidence sessions occur among the best rounds that fit `tokens` together."""
    fitting = {item["session_id"] for item in rounds_in_budget(line, tokens)}
    return fitting.issuperset(question.evidence_session_ids)


def rounds_in_budget(line: RankedLine, tokens: int) -> list[RankedRound]:
    """The rounds that come first in the ranking, whole, up to the first that no longer fits."""
    left = characters_of(tokens)
    taken: list[RankedRound] = []
    for item in line["ranked_rounds"]:
        left -= item["characters"] or 0
        if left < 0:
            break
        taken.append(item)
    return taken


def _figures(ranked: Sequence[str], relevant: Sequence[str]) -> QuestionFigures:
    figures: QuestionFigures = {}
    for k in CUT_OFFS:
        figures[f"recall_all@{k}"] = recall_all_at_k(ranked, relevant, k)
        figures[f"recall_any@{k}"] = recall_any_at_k(ranked, relevant, k)
        figures[f"recall_fraction@{k}"] = recall_fraction_at_k(ranked, relevant, k)
        figures[f"ndcg@{k}[longmemeval]"] = ndcg_at_k(ranked, relevant, k, discount="longmemeval")
        figures[f"ndcg@{k}[standard]"] = ndcg_at_k(ranked, relevant, k, discount="standard")
    return figures


# `empty`: a list without sources. `unplaced`: no source of the list fits the history.
STATES = ("placed", "empty", "unplaced", "unreadable", "not returned")


class SourceCounts(TypedDict):
    p50: float | None
    max: int | None


class SourcesTable(TypedDict):
    """The sources that answers named: `answers` counts answers by state, `placed_by` counts sources
    by what placed them in the history."""

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
    """Count answers by the state of their sources, and sources by what placed them. None where no
    line records sources.
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
