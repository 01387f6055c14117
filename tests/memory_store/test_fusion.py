"""Fusion: a weighted sum, best first, ties by id."""

import pytest

from memory_store.recall.fusion import Candidate, Weights, ranked

WEIGHTS = Weights(dense=1.0, words=0.5, session_words=0.25)


def candidate(id: str, dense: float = 0.0, words: float = 0.0, session: float = 0.0) -> Candidate:
    return Candidate(id, "s", dense, words, session)


def test_similarity_is_the_weighted_sum() -> None:
    assert candidate("a", 0.4, 0.2, 0.8).similarity(WEIGHTS) == pytest.approx(0.7)


def test_best_first_and_ties_by_id() -> None:
    order = ranked([candidate("c", 0.5), candidate("b", 0.5), candidate("a", 0.1)], WEIGHTS)
    assert [found.id for found, _ in order] == ["b", "c", "a"]


def test_words_can_lift_a_round_over_a_nearer_one() -> None:
    order = ranked([candidate("near", 0.5), candidate("named", 0.4, 0.4)], WEIGHTS)
    assert order[0][0].id == "named"


def test_signals_are_named_as_the_weights_are() -> None:
    assert set(candidate("a").signals) == set(Weights.__dataclass_fields__)
