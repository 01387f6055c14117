"""Fusion: a weighted sum, best first, ties by id, sessions by their leaders."""

from typing import NamedTuple

import numpy as np
import pytest

from memory_store.recall._query import Weights
from memory_store.recall._ranking import SIGNALS, Candidate, Candidates, best

WEIGHTS = Weights(dense=1.0, words=0.5, session_words=0.25)


class Row(NamedTuple):
    id: int
    session: str = "s"
    dense: float = 0.0
    words: float = 0.0
    session_words: float = 0.0


def ranked(*rows: Row, limit: int = 10) -> list[Candidate]:
    signals = {name: np.array([getattr(row, name, 0.0) for row in rows]) for name in SIGNALS}
    candidates = Candidates([row.id for row in rows], [row.session for row in rows], signals)
    return best(candidates, WEIGHTS, limit)


def ids(*rows: Row, limit: int = 10) -> list[int]:
    return [candidate.id for candidate in ranked(*rows, limit=limit)]


def test_similarity_is_the_weighted_sum() -> None:
    (found,) = ranked(Row(1, dense=0.4, words=0.2, session_words=0.8))
    assert found.similarity == pytest.approx(0.7)
    assert found.signals["session_words"] == 0.8


def test_best_first_and_ties_by_id() -> None:
    assert ids(Row(3, dense=0.5), Row(2, dense=0.5), Row(1, dense=0.1)) == [2, 3, 1]


def test_ids_beyond_64_bits_are_told_apart() -> None:
    assert ids(Row(2**127 + 1), Row(2**127), Row(5)) == [5, 2**127, 2**127 + 1]


def test_words_can_lift_a_round_over_a_nearer_one() -> None:
    assert ids(Row(1, dense=0.5), Row(2, dense=0.4, words=0.4)) == [2, 1]


def test_the_first_rounds_and_the_leaders_of_the_first_sessions() -> None:
    rows = [Row(n, "long", dense=1 - n / 10) for n in range(5)]
    rows += [Row(5, "short", dense=0.3), Row(6, "short", dense=0.2), Row(7, "late", dense=0.1)]
    assert ids(*rows, limit=2) == [0, 1, 5]
    assert ids(*rows, limit=3) == [0, 1, 2, 5, 7]


def test_without_sessions_only_the_first_rounds() -> None:
    rows = Candidates(
        [1, 2, 3], ["long", "long", "short"], {name: np.array([0.3, 0.2, 0.1]) for name in SIGNALS}
    )
    assert [found.id for found in best(rows, WEIGHTS, 2)] == [1, 2, 3]
    assert [found.id for found in best(rows, WEIGHTS, 2, sessions=False)] == [1, 2]


def test_nothing_found_is_nothing_wanted() -> None:
    assert ranked() == []


def test_signals_are_named_as_the_weights_are() -> None:
    (found,) = ranked(Row(1))
    assert set(found.signals) == set(Weights.__dataclass_fields__)
