"""The recall benchmark: variants as weights over signals, folds, cross-validated weights."""

import numpy as np
import pytest

from benchmarks.recall.crossvalidation import cross_validate, fold_of
from benchmarks.recall.histories import (
    QUESTION_ONLY,
    SIGNALS,
    VALUE_ONLY,
    RecallQuestion,
    official_bm25,
)
from benchmarks.recall.table import OURS, VARIANTS, figures_of, weighted, without


def asked(question_id: str = "q", **signals: list[float]) -> RecallQuestion:
    """Three sessions of two rounds each; the evidence is in the third."""
    columns = {name: np.zeros(6) for name in (*SIGNALS, QUESTION_ONLY, VALUE_ONLY)}
    columns |= {name: np.array(values) for name, values in signals.items()}
    return RecallQuestion(
        question_id=question_id,
        question_type="multi-session",
        sessions=("a", "b", "c"),
        evidence=frozenset({"c"}),
        session_of=np.array([0, 0, 1, 1, 2, 2]),
        signals=columns,
        names_time=False,
        official=np.zeros(3),
    )


def test_a_session_is_as_good_as_its_best_round() -> None:
    question = asked(dense=[0.1, 0.2, 0.9, 0.0, 0.3, 0.8], words=[0, 0, 0, 0, 0, 0.4])
    assert weighted({"dense": 1.0})(question).tolist() == [0.2, 0.9, 0.8]
    assert weighted({"dense": 1.0, "words": 0.5})(question).tolist() == [0.2, 0.9, 1.0]


def test_without_leaves_the_other_weights_as_they_are() -> None:
    assert without("words") == {name: w for name, w in OURS.items() if name != "words"}


def test_every_variant_ranks_every_session() -> None:
    question = asked(dense=[0.1] * 6)
    assert all(variant(question).shape == (3,) for variant in VARIANTS.values())


def test_figures_rank_equals_by_place() -> None:
    figures = figures_of(asked(), weighted({"dense": 1.0}))
    assert figures["recall_all@5"] == 1.0
    # Third of three equals: discounted by log2(3).
    assert figures["ndcg@5"] == pytest.approx(0.631, abs=0.001)


def test_the_official_baseline_neither_folds_nor_stems() -> None:
    sessions = ["my Cats sleep", "my cat sleeps", "bread and wine", "tea and milk"]
    assert official_bm25("cat", sessions).argmax() == 1
    assert not official_bm25("CAT", sessions).any()


def test_every_question_is_held_out_by_one_fold_of_all_files() -> None:
    questions = [asked(f"q{number}") for number in range(40)]
    report = cross_validate([questions, questions[:10]], 5)
    assert report["held out"]["n"] == 50
    assert {fold_of(question.question_id, 5) for question in questions} == set(range(5))
