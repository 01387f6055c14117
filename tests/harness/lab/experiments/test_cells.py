"""The cells of every experiment, and what their servers are told."""

import json

import pytest

from harness.errors import UsageError
from harness.lab.experiments.cells import BUDGETS, DESIGNS, AtHand, grid_of
from harness.lab.experiments.experiment import ReadingModel

STRONG = {"strong model": {"query_model.name": "openai/strong"}}
SIZES = [
    ("table2", AtHand(), len(DESIGNS)),
    ("table3", AtHand(), 5 + 7),
    ("table4", AtHand(), 2 * 2 * 3),
    ("fig3", AtHand(), 0),
    ("fig3", AtHand(reader=True), 4),
    ("fig5", AtHand(), 4 * len(BUDGETS)),
    ("fig6", AtHand(), 4),
]


@pytest.mark.parametrize(("name", "wanted", "size"), SIZES)
def test_an_experiment_has_so_many_cells(name: str, wanted: AtHand, size: int) -> None:
    cells = grid_of(name, wanted).cells
    assert len(cells) == size
    assert len({cell.name for cell in cells}) == size
    assert len({cell.label for cell in cells}) == size


def test_a_model_that_reads_time_adds_its_cells() -> None:
    cells = grid_of("table4", AtHand(ranges=STRONG)).cells
    assert len(cells) == 2 * 2 * 5
    by_model = [cell for cell in cells if "strong" in cell.label]
    assert {cell.environment["ASSISTANT_QUERY_MODEL__NAME"] for cell in by_model} == {
        "openai/strong"
    }
    assert [cell.published for cell in by_model if "lift" in cell.label] == [{}] * 4
    assert all(cell.published for cell in by_model if "filter" in cell.label)


def test_the_four_prompts_differ_in_notes_and_format_alone() -> None:
    cells = grid_of("fig6", AtHand()).cells
    differing = {"reading.mode", "reading.layout"}
    common = [{k: v for k, v in cell.settings.items() if k not in differing} for cell in cells]
    assert common == [common[0]] * 4
    assert len({tuple(cell.settings[name] for name in sorted(differing)) for cell in cells}) == 4


def test_keys_are_told_as_json() -> None:
    cell = next(c for c in grid_of("table3", AtHand()).cells if c.label == "session, K = V + fact")
    assert json.loads(cell.environment["ASSISTANT_CHOICES__KEYS"]) == ["value", "fact"]
    assert cell.environment["ASSISTANT_CHOICES__VALUE"] == "session"
    assert cell.published["recall_all@5"] == 0.732


def test_only_what_there_is_can_be_run() -> None:
    with pytest.raises(UsageError, match="unknown experiment 'table9', expected one of table2"):
        grid_of("table9", AtHand())


def test_a_reader_is_a_model_at_a_url() -> None:
    reader = ReadingModel.parse("gpt@http://127.0.0.1:1/v1", None)
    assert reader.settings("chat_model") == {
        "chat_model.name": "openai/gpt",
        "chat_model.base_url": "http://127.0.0.1:1/v1",
        "chat_model.api_key": "none",
    }
    with pytest.raises(UsageError, match="expected MODEL@URL"):
        ReadingModel.parse("gpt", None)
