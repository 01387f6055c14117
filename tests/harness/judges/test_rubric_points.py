"""Both scorers by worked examples: points with halves, and orders of events."""

import pytest

from harness.judges.rubric_judge import scores_of_order, scores_of_points


@pytest.mark.parametrize(
    ("points", "fractional", "official", "verdict"),
    [
        ([1.0], 1.0, 1.0, "yes"),
        ([0.5], 0.5, 0.0, "yes"),
        ([0.0], 0.0, 0.0, "no"),
        ([1.0, 0.5], 0.75, 0.5, "yes"),
        ([1.0, 0.5, 0.0, 0.0], 0.375, 0.25, "no"),
        ([0.5, 0.5, 0.5, 0.5, 0.5], 0.5, 0.0, "yes"),
        ([1.0, 1.0, 0.5, 0.5, 0.0], 0.6, 0.4, "yes"),
        ([0.5, 0.0], 0.25, 0.0, "no"),
    ],
)
def test_points(points: list[float], fractional: float, official: float, verdict: str) -> None:
    scores = scores_of_points(points)
    assert (scores.fractional, scores.official) == pytest.approx((fractional, official))
    assert scores.verdict == verdict
    assert scores.to_json()["rubric"]["points"] == points


@pytest.mark.parametrize(
    ("said", "expected", "tau", "f1"),
    [
        ([1, 2, 3], 3, 1.0, 1.0),
        ([3, 2, 1], 3, -1.0, 1.0),
        # One of three pairs is the wrong way round.
        ([2, 1, 3], 3, 1 / 3, 1.0),
        # What an answer leaves out ranks last: the third event is there, the first two are not.
        ([1, 2], 3, 1.0, 4 / 5),
        # The first one alone: ranks 1 2 3 and 1 4 4, two pairs agree and one ties.
        ([1], 3, 2 / 6**0.5, 1 / 2),
        # Ranks 1 2 3 and 4 4 1: two pairs disagree, one ties.
        ([3], 3, -2 / 6**0.5, 1 / 2),
        # Ranks 1 2 3 5 and 1 3 4 2: two of six pairs disagree.
        ([1, 0, 2, 3], 3, 1 / 3, 6 / 7),
        # Two strange events tie on the side that lacks them: 1 2 4 4 and 1 2 3 4, tau 5 / √30.
        ([1, 2, 0, 0], 2, 5 / 30**0.5, 2 / 3),
        # Told again, an event counts where it is told first.
        ([1, 2, 1, 3], 3, 1.0, 1.0),
        ([1], 1, 1.0, 1.0),
    ],
)
def test_orders(said: list[int], expected: int, tau: float, f1: float) -> None:
    scores = scores_of_order(said, expected)
    assert scores.details["tau"] == pytest.approx((tau + 1) / 2, abs=1e-4)
    assert scores.details["f1"] == pytest.approx(f1, abs=1e-4)
    assert scores.official == pytest.approx((tau + 1) / 2)
    assert scores.fractional == pytest.approx((tau + 1) / 2 * f1)


def test_an_answer_without_events_has_nothing() -> None:
    scores = scores_of_order([], 3)
    assert (scores.fractional, scores.official, scores.verdict) == (0.0, 0.0, "no")


def test_an_answer_without_an_expected_event_has_something_officially() -> None:
    """Ranks 1 2 3 5 and 5 5 5 1: three pairs disagree, three tie."""
    scores = scores_of_order([0], 3)
    assert (scores.fractional, scores.verdict) == (0.0, "no")
    assert scores.official == pytest.approx((1 - 3 / 18**0.5) / 2)
