"""Accuracy, its intervals and its denominators."""

import pytest

from harness.metrics.accuracy import Outcome, Scored, accuracy_table, wilson_interval
from harness.metrics.effort import latency_table, percentile, token_table


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(400, 500, 76.3, 83.3), (24, 30, 62.7, 90.5), (30, 30, 88.6, 100)],
)
def test_wilson_v10(right: int, n: int, low: float, high: float) -> None:
    interval = wilson_interval(right, n)
    assert (100 * interval.low, 100 * interval.high) == pytest.approx((low, high), abs=0.05)


def test_nothing_known_is_anything_possible() -> None:
    assert wilson_interval(0, 0) == (0, 1)


def item(
    outcome: Outcome, question_type: str = "a", *, abstention: bool = False, refused: bool = False
) -> Scored:
    return Scored(f"{outcome}{question_type}", question_type, abstention, outcome, refused)


def test_missing_and_unscored_lower_everything_but_scored() -> None:
    table = accuracy_table([item("yes"), item("no"), item("unscored"), item("missing")])
    assert (table["overall"]["value"], table["overall"]["n"]) == (0.25, 4)
    assert (table["scored"]["value"], table["scored"]["n"]) == (0.5, 2)


def test_abstention_counts_in_its_own_type_and_apart() -> None:
    table = accuracy_table([item("yes"), item("no", abstention=True), item("yes", "b")])
    assert table["by_type"]["a"]["value"] == 0.5
    assert table["by_type_answerable"]["a"]["value"] == 1
    assert table["task_averaged"] == {"value": 0.75, "n": 2}
    assert (table["abstention"]["value"], table["abstention"]["n"]) == (0, 1)
    assert table["overall"]["value"] == pytest.approx(2 / 3)


def test_no_abstention_question_gives_no_value() -> None:
    assert accuracy_table([item("yes")])["abstention"]["value"] is None


def test_false_refusals_are_those_of_answerable_questions_that_were_answered() -> None:
    refusals = [
        item("no", refused=True),
        item("yes", abstention=True, refused=True),
        item("missing"),
        item("yes"),
    ]
    false = accuracy_table(refusals)["false_refusals"]
    assert (false["value"], false["n"]) == (0.5, 2)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([], 0.5, None), ([7], 0.95, 7), ([3, 1, 2], 0.5, 2), (list(range(1, 101)), 0.95, 95)],
)
def test_percentiles_are_values_that_occurred(
    values: list[float], share: float, expected: float | None
) -> None:
    assert percentile(values, share) == expected


def test_tokens_name_what_was_not_counted() -> None:
    counted = {"prompt_tokens": 10, "completion_tokens": 4}
    table = token_table([counted, {"prompt_tokens": None}], [{"characters": 41}])
    assert (table["prompt"], table["n"], table["not_counted"]) == (10, 1, 1)
    assert table["ingested_estimate"] == 10


def test_hypotheses_of_another_system_have_no_latency() -> None:
    assert latency_table([{"hypothesis": "x"}], [], [])["answer_ms"] == {
        "p50": None,
        "p95": None,
        "n": 0,
    }
