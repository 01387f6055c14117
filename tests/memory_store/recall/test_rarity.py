"""How much it says that a round is among a few."""

import pytest

from memory_store.recall._ranking import rarity


@pytest.mark.parametrize(
    ("found", "rounds", "expected"),
    [(1, 100, 1.0), (10, 100, 0.5), (100, 100, 0.0), (0, 100, 0.0), (1, 1, 0.0), (0, 0, 0.0)],
)
def test_one_of_many_says_most_and_all_of_them_nothing(
    found: int, rounds: int, expected: float
) -> None:
    assert rarity(found, rounds) == pytest.approx(expected)
