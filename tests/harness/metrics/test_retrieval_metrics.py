"""Recall and NDCG against hand-computed vectors; V1-V6 are the reference's own."""

import pytest

from harness.metrics.retrieval_metrics import (
    Discount,
    ndcg_at_k,
    recall_all_at_k,
    recall_any_at_k,
    recall_fraction_at_k,
    session_view,
    without_turn,
)

V1 = ["a", "answer_x", "answer_y", "b", "c", "d"]
V2 = ["a", "b", "answer_x", "c", "answer_y", "d"]
TARGETS = {"answer_x", "answer_y"}


def official(ranked: list[str], targets: list[str] | set[str], k: int) -> list[float]:
    return [
        recall_any_at_k(ranked, targets, k),
        recall_all_at_k(ranked, targets, k),
        ndcg_at_k(ranked, targets, k, discount="longmemeval", relevant_items=len(targets)),
    ]


@pytest.mark.parametrize(
    ("ranked", "k", "expected"),
    [
        (V1, 1, (0, 0, 0)),
        (V1, 2, (1, 0, 0.5)),
        (V1, 3, (1, 1, 0.8155)),
        (V2, 3, (1, 0, 0.3155)),
        (V2, 5, (1, 1, 0.5308)),
    ],
)
def test_v1_v2_two_targets(ranked: list[str], k: int, expected: tuple[float, ...]) -> None:
    assert official(ranked, TARGETS, k) == pytest.approx(expected, abs=5e-5)


def test_v3_an_empty_target_set() -> None:
    assert official(V1, set(), 3) == [0, 1, 0]
    assert recall_fraction_at_k(V1, set(), 3) == 1


def test_v4_turns_seen_as_sessions() -> None:
    corpus = "answer_x_1 noans_x_3 noans_x_5 f_1 f_3 g_1 answer_y_1 noans_y_3".split()
    ranked = [corpus[i - 1] for i in (2, 3, 4, 5, 6, 7, 1, 8)]
    targets = ["answer_x_1", "answer_y_1"]
    assert official(ranked, targets, 5) == [0, 0, 0]
    view = session_view(ranked, 5)
    assert view.k == 7
    converted = official(view.ranked, [without_turn(t) for t in targets], view.k)
    assert converted == pytest.approx((1, 1, 0.3715), abs=5e-5)


@pytest.mark.parametrize(
    ("ranks", "discount", "expected"),
    [
        ({2}, "longmemeval", 1.0),
        ({3}, "longmemeval", 0.631),
        ({1, 3}, "longmemeval", 0.815),
        ({2}, "standard", 0.631),
        ({3}, "standard", 0.5),
        ({1, 3}, "standard", 0.920),
    ],
)
def test_v5_both_discounts(ranks: set[int], discount: Discount, expected: float) -> None:
    ranked = [str(rank) for rank in range(1, 6)]
    relevant = {str(rank) for rank in ranks}
    value = ndcg_at_k(ranked, relevant, 5, discount=discount)
    assert value == pytest.approx(expected, abs=5e-4)


def test_fractional_recall_counts_distinct_targets() -> None:
    assert recall_fraction_at_k(V1, TARGETS, 2) == 0.5
    assert recall_fraction_at_k(V1, ["answer_x", "answer_x"], 2) == 1


def test_repeated_items_count_apart_in_the_ideal() -> None:
    value = ndcg_at_k(["x"], ["x"], 3, discount="longmemeval", relevant_items=2)
    assert value == pytest.approx(0.5)


def test_a_ranking_that_ends_early_keeps_its_length() -> None:
    assert session_view(["a_1", "a_2"], 5).k == 5
    assert session_view(["a_1", "a_2", "a_3"], 2) == (["a", "a", "a"], 3)
