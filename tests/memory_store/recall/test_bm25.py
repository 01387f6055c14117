"""BM25 by hand: three documents, small numbers."""

import math

import pytest

from memory_store.recall.weighting import bm25, term_weights


def test_term_weights_fall_with_the_number_of_documents_that_hold_the_term() -> None:
    rare, common = term_weights([{"a": 1.0}, {"a": 1.0, "b": 1.0, "c": 1.0}], documents=3)
    assert rare == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert common == pytest.approx(math.log(1 + 0.5 / 3.5))


def test_similarity_without_lengths() -> None:
    # One term, k1 = 1.2: once weighs 2.2 / 2.2 of at most 2.2, thrice 6.6 / 4.2 of at most 2.2.
    found = bm25([{"a": 1.0, "b": 3.0}], [0.7])
    assert found == {"a": pytest.approx(1 / 2.2), "b": pytest.approx(3 / 4.2)}


def test_a_longer_document_weighs_less() -> None:
    # Twice the mean length, b = 0.75: 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2)) over 2.2.
    found = bm25([{"a": 1.0, "b": 1.0}], [1.0], {"a": 1.0, "b": 2.0})
    assert found == {"a": pytest.approx(1 / 2.2), "b": pytest.approx(1 / 3.1)}


def test_a_document_with_every_term_is_nearer_than_one_with_many_of_one() -> None:
    postings = [{"a": 1.0, "b": 9.0}, {"a": 1.0}]
    found = bm25(postings, term_weights(postings, 10))
    assert found["a"] > found["b"]
    assert 0.0 < found["b"] < found["a"] < 1.0


def test_no_terms_find_nothing() -> None:
    assert bm25([], []) == {}


def test_a_term_nobody_holds_lowers_everyone_alike() -> None:
    postings = [{"a": 1.0}, {}]
    assert bm25(postings, [1.0, 1.0]) == {"a": pytest.approx(1 / 4.4)}
