"""How many rounds are as much to read as so many of usual length."""

from collections.abc import Sequence

import pytest

from memory_store.recall._ranking import as_many


@pytest.mark.parametrize(
    ("words", "rounds", "number"),
    [
        ([100] * 90, 50, 50),
        ([3000] * 90, 50, 50),  # a long round counts no more than a usual one
        ([0] * 900, 50, 267),
        ([12] * 900, 50, 175),
        ([100, 12, 100, 12, 12], 2, 2),  # in their order: nothing is left out to fit another
        ([12, 12, 12, 100, 100], 2, 4),
        ([100] * 3, 50, 3),
        ([], 50, 0),
    ],
)
def test_short_rounds_take_less_than_the_place_of_one(
    words: Sequence[int], rounds: int, number: int
) -> None:
    assert as_many(words, rounds) == number
