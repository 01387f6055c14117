"""Accuracy, its intervals and its denominators."""

from itertools import count
from typing import Any

import pytest

from harness.metrics.accuracy import Scored, accuracy_table
from harness.metrics.effort import latency_table, percentile, token_table
from harness.records.run_dir import Outcome
from harness.report.accuracy_tables import _accuracy_row

_NUMBERS = count()


def item(
    outcome: Outcome,
    question_type: str = "a",
    *,
    abstention: bool = False,
    refused: bool = False,
    history: str | None = None,
) -> Scored:
    name = f"{outcome}{question_type}{next(_NUMBERS)}"
    return Scored(name, question_type, abstention, outcome, refused, history or name)


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


def test_questions_of_one_history_get_bounds_by_history_too() -> None:
    table = accuracy_table(
        [item("yes", history="x"), item("yes", history="x"), item("no", "b", history="y")]
    )
    assert table["overall"]["clustered"] == {"low": 0.0, "high": 1.0, "clusters": 2}
    assert table["by_type"]["a"]["clustered"] == {"low": None, "high": None, "clusters": 1}
    assert "clustered" not in table["by_type"]["b"]


def test_abilities_are_those_of_longmemeval() -> None:
    table = accuracy_table(
        [
            item("yes", "single-session-user"),
            item("no", "single-session-assistant"),
            item("yes", "multi-session", abstention=True),
        ]
    )
    abilities = {name: (cell["value"], cell["n"]) for name, cell in table["by_ability"].items()}
    assert abilities == {"information extraction": (0.5, 2), "abstention": (1, 1)}
    assert accuracy_table([item("yes", "multi-hop")])["by_ability"] is None


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


def test_a_type_of_one_conversation_has_no_bounds_by_conversation() -> None:
    cell: Any = {"value": 0.0, "low": 0.0, "high": 0.793, "n": 1}
    cell["clustered"] = {"low": None, "high": None, "clusters": 1}
    assert _accuracy_row("a", cell, shared=True) == ("a", "0.0", "0.0–79.3", "–", "1")
