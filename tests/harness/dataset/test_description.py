"""`harness stats`: the built-in set, and figures worked out by hand."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from benches import Finished
from conversations import sample

from harness.cli.data_commands import short
from harness.datasets.description import describe, figures
from harness.datasets.registry import open_dataset


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([2.0], (1, 2, 2, 2, 2, 2)),
        ([3, 1, 2, 10], (4, 4, 1, 2.5, 10, 10)),
        (list(range(1, 11)), (10, 5.5, 1, 5.5, 9, 10)),
    ],
)
def test_figures_of_a_list(values: list[float], wanted: tuple[float, ...]) -> None:
    assert tuple(figures(values).values()) == wanted


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.2, "0.2"), (69.963, "69.96"), (237.94, "238"), (6783.2, "6,783"),
     (138_012, "138k"), (10_000_000, "10,000k")],
)  # fmt: skip
def test_figures_fit_a_column(value: float, text: str) -> None:
    assert short(value) == text


def test_a_conversation_is_described_by_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([sample("conv-7"), sample("conv-8")]))
    found = describe(open_dataset("locomo", path))
    assert found["counts"] == {
        "histories": 2,
        "questions": 10,
        "abstention": 2,
        "shared_histories": 2,
        "repeated_in_a_history": 0,
        "questions_asked_again": 5,
        "sessions": 4,
        "distinct_sessions": 2,
    }
    assert found["types"]["multi-hop"] == 2
    assert found["dates"] == ["2023-05-08", "2023-06-03"]
    measures = found["measures"]
    assert measures["sessions per history"]["mean"] == 2
    assert measures["turns per history"]["mean"] == 5
    assert measures["evidence sessions per question"]["most"] == 2
    assert measures["depth of evidence (0 to 1)"]["least"] == 0
    assert measures["days from evidence to question"]["most"] == pytest.approx(25.4, abs=0.1)


def test_cues_are_described_inside_their_conversations(
    harness: Callable[..., Finished], tmp_path: Path
) -> None:
    cue = {
        "relation_type": "goal",
        "time_gap": "two weeks later",
        "cue_dialogue": "A: I run again.\nB: Good.",
        "trigger_query": "A: What shall I cook?",
    }
    file, around = tmp_path / "plus.json", tmp_path / "locomo.json"
    file.write_text(json.dumps([cue]))
    around.write_text(json.dumps([sample("conv-7")]))
    chosen = ("stats", "--dataset", "locomo-plus", "--file", file, "--json")
    counts = [
        json.loads(harness(*chosen, *more).out)["counts"]["sessions"]
        for more in ((), ("--conversations", around))
    ]
    assert counts == [1, 3]


def test_the_built_in_set_in_tables_and_json(harness: Callable[..., Finished]) -> None:
    shown = harness("stats", "--dataset", "sample")
    assert shown.code == 0
    for title in ("Data set sample", "Questions by type", "Measures", "tokens/history"):
        assert title in shown.out
    assert "…" not in shown.out
    found = json.loads(harness("stats", "--dataset", "sample", "--json").out)
    assert sum(found["types"].values()) == found["counts"]["questions"]
