"""What rounds gain from those beside them in their session."""

import numpy as np
import pytest

from memory_store.recall._ranking import Neighbours
from memory_store.recall._remembered import RoundOutline


def place(
    number: int, session: str = "s", speaker: str = "Ann", *, ends_asking: bool = False
) -> RoundOutline:
    return RoundOutline(session, 5, frozenset(filter(None, [speaker])), number, ends_asking)


def beside(*places: RoundOutline) -> Neighbours:
    names = list(dict.fromkeys(place.session_id for place in places))
    return Neighbours(places, np.array([names.index(place.session_id) for place in places], int))


def gains(near: dict[tuple[str, int], float], *, speakers: str = "AB") -> list[float]:
    """What rounds gain, by session and number; speakers take turns."""
    rounds = [place(n, session, speakers[n % len(speakers)]) for session, n in near]
    return [round(float(one), 3) for one in beside(*rounds).nearer(np.array(list(near.values())))]


@pytest.mark.parametrize(
    ("near", "expected"),
    [
        ({("s", 0): 0.9, ("s", 1): 0.5}, [0, 0.4]),
        ({("s", 0): 0.5, ("s", 1): 0.9}, [0.4, 0]),
        ({("s", 0): 0.9, ("s", 1): 0.5, ("s", 2): 0.1}, [0, 0.4, 0.8]),
        ({("s", 0): 0.9, ("s", 2): 0.1, ("s", 5): 0.2}, [0, 0.8, 0]),
        ({("s", 0): 0.9, ("t", 0): 0.5, ("t", 1): 0.1}, [0, 0, 0.4]),
        ({("s", 2): 0.1, ("t", 0): 0.2, ("s", 1): 0.3}, [0.2, 0, 0]),
        ({("s", 0): 0.5}, [0]),
        ({}, []),
    ],
    ids=[
        "after", "before", "the nearest of several", "three away", "another session",
        "in any order", "alone", "none",
    ],
)  # fmt: skip
def test_a_turn_gains_from_a_nearer_one_around_it(
    near: dict[tuple[str, int], float], expected: list[float]
) -> None:
    assert gains(near) == expected


@pytest.mark.parametrize("speakers", ["A", [""]])
def test_a_chat_with_an_assistant_gains_nothing(speakers: str) -> None:
    assert gains({("s", 0): 0.9, ("s", 1): 0.5}, speakers=speakers) == [0, 0]


def test_an_answer_gains_from_another_speakers_question() -> None:
    asked = place(0, speaker="Ben", ends_asking=True)
    near = np.array([0.8, 0.2, 0.1])
    own = beside(place(0, ends_asking=True), place(1), place(2)).answers(near)
    others = beside(asked, place(1), place(2)).answers(near)
    nearer = beside(asked, place(1)).answers(np.array([0.2, 0.8]))
    assert (list(own), list(others), list(nearer)) == (
        [0, 0, 0],
        [0, pytest.approx(0.6), 0],
        [0, 0],
    )
