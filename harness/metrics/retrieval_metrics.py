"""Recall and NDCG of one ranking, pure functions over ids.

Two NDCG discounts exist side by side: `standard` divides the gain at rank r by log2(r + 1);
`longmemeval` is what the official scripts compute, where ranks 1 and 2 are both undiscounted and
rank r divides by log2(r).
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from harness.statistics.intervals import Mean

# Means by the name of their metric.
Figures = dict[str, Mean]
Discount = Literal["longmemeval", "standard"]
CUT_OFFS = (1, 3, 5, 10, 30, 50)


class SessionView(NamedTuple):
    """A turn ranking seen by session: ids without their turn, and the cut-off to use on them."""

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
    """What LongMemEval's scripts compute of one ranking; `depths` says for each k how deep to look.
    An id counts as often as it is among the targets.
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
    n = len(known)
    return {name: {"value": sum(row[name] for row in known) / n, "n": n} for name in names}


def session_view(ranked_turns: Sequence[str], k: int) -> SessionView:
    """The official step from turns to sessions.

    The last `_` segment is cut from every id and k grows until the top holds k distinct sessions or
    the ranking ends; the list keeps its repetitions.
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
