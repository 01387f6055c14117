"""BM25 by hand: a few documents, small numbers."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from memory_store.recall._ranking import Posting, bm25, gathered, posting, term_weights


def held(*counts: float) -> Posting:
    """A term that is so often in each document."""
    return posting({row: n for row, n in enumerate(counts) if n}, dict(enumerate(range(9))))


def found(
    postings: Sequence[Posting], weights: Sequence[float], lengths: Sequence[float] = (1.0, 1.0)
) -> list[float]:
    return bm25(postings, weights, len(lengths), np.array(lengths)).tolist()


def test_a_posting_leaves_out_documents_without_a_row() -> None:
    rows, counts = posting({"a": 2.0, "gone": 1.0, "b": 3.0}, {"b": 0, "a": 4})
    assert (rows.tolist(), counts.tolist()) == ([4, 0], [2.0, 3.0])


def test_documents_of_a_group_are_one() -> None:
    rows, counts = gathered(held(1.0, 0.0, 2.0, 4.0), np.array([1, 0, 1, 3]))
    assert (rows.tolist(), counts.tolist()) == ([1, 3], [3.0, 4.0])


def test_term_weights_fall_with_the_number_of_documents_that_hold_the_term() -> None:
    rare, common = term_weights([held(1.0), held(1.0, 1.0, 1.0)], documents=3)
    assert rare == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert common == pytest.approx(math.log(1 + 0.5 / 3.5))


def test_similarity_without_lengths() -> None:
    # One term, k1 = 1.2: once weighs 2.2 / 2.2 of at most 2.2, thrice 6.6 / 4.2 of at most 2.2.
    assert bm25([held(1.0, 3.0)], [0.7], 2).tolist() == pytest.approx([1 / 2.2, 3 / 4.2])


def test_a_longer_document_weighs_less() -> None:
    # Twice the mean length, b = 0.75: 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2)) over 2.2.
    assert found([held(1.0, 1.0)], [1.0], [1.0, 2.0]) == pytest.approx([1 / 2.2, 1 / 3.1])


def test_a_document_with_every_term_is_nearer_than_one_with_many_of_one() -> None:
    postings = [held(1.0, 9.0), held(1.0)]
    both, one = found(postings, term_weights(postings, 10))
    assert 0.0 < one < both < 1.0


def test_no_terms_find_nothing() -> None:
    assert found([], []) == [0.0, 0.0]


def test_a_term_nobody_holds_lowers_everyone_alike() -> None:
    assert found([held(1.0), held()], [1.0, 1.0], [1.0]) == [pytest.approx(1 / 4.4)]
