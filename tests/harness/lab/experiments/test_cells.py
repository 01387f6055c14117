"""The cells of every experiment, and what their servers are told."""

import json
from pathlib import Path

import pytest
from histories import instance, write_data
from made_cells import laboratory_in

from harness.datasets.registry import open_source
from harness.datasets.selection import Filters, QuestionSource
from harness.errors import DatasetError, UsageError
from harness.lab.experiments.cells import BUDGETS, DESIGNS, AtHand, grid_of, without_answers
from harness.lab.experiments.experiment import ReadingModel, run_experiment, window_of
from harness.replay.context_modes import CHOICES, context_of, prompt_of

STRONG = {"strong model": {"query_model.name": "openai/strong"}}
SIZES = [
    ("table2", AtHand(), len(DESIGNS)),
    ("table3", AtHand(), 5 + 7),
    ("table3", AtHand(reader=True), 3 * (5 + 7)),
    ("table4", AtHand(), 2 * 2 * 3),
    ("fig3", AtHand(), 0),
    ("fig3", AtHand(reader=True), 4),
    ("fig5", AtHand(), 4 * len(BUDGETS)),
    ("fig6", AtHand(reader=True), 4),
    ("fig6", AtHand(from_memory=True), 4),
]


def test_unreadable_data_are_noticed_before_any_server_starts(tmp_path: Path) -> None:
    laboratory = laboratory_in(tmp_path / "out", tmp_path / "gone.json")
    with pytest.raises(DatasetError, match=r"gone\.json"):
        run_experiment(laboratory, grid_of("table2", AtHand()))
    assert not laboratory.out.exists()


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


def test_five_and_ten_values_are_read_beside_what_fits_the_budget() -> None:
    cells = grid_of("table3", AtHand(reader=True)).cells
    assert all(cell.asks for cell in cells)
    by_count = [cell for cell in cells if cell.is_found_before]
    assert [cell.settings["recall.rounds"] for cell in by_count] == ["5"] * 12 + ["10"] * 12
    assert by_count[0].published == {"accuracy": 0.615}
    assert by_count[-2].published == {"accuracy": 0.700}
    for cell in by_count:
        limits = {"recall.rounds", "recall.context_tokens"}
        searched = {k: v for k, v in cell.settings.items() if k not in limits}
        assert searched in [other.settings for other in cells]


@pytest.mark.parametrize("name", ["table3", "table4", "fig3", "fig5"])
def test_cells_of_a_block_differ_in_what_is_asked_about_alone(name: str) -> None:
    cells = grid_of(name, AtHand(reader=True, ranges=STRONG)).cells
    changing = {
        "table3": {"choices.keys", "choices.merged"},
        "table4": {"choices.time", "query_model.name", "query_model.base_url"},
        "fig3": set[str](),
        "fig5": {"choices.value"},
    }[name]
    for block in {cell.block for cell in cells}:
        settings = [
            {k: v for k, v in cell.settings.items() if k not in changing}
            for cell in cells
            if cell.block == block
        ]
        assert len(settings) > 1
        assert settings == [settings[0]] * len(settings)


def test_without_answers_only_what_is_found_is_measured() -> None:
    grid = without_answers(grid_of("table2", AtHand(reader=True)))
    assert not any(cell.asks for cell in grid.cells)
    with pytest.raises(UsageError, match="fig3 measures answers alone"):
        without_answers(grid_of("fig3", AtHand(reader=True)))


def test_the_evidence_alone_is_read_with_four_prompts_unless_memory_is_asked_for() -> None:
    cells = grid_of("fig6", AtHand(reader=True)).cells
    assert {cell.mode for cell in cells} == {"oracle"}
    assert {(cell.layout, cell.notes) for cell in cells} == {
        *(("text", False), ("text", True), ("json", False), ("json", True))
    }
    with pytest.raises(UsageError, match="--from-memory"):
        grid_of("fig6", AtHand())


def test_the_four_prompts_with_evidence_differ_in_notes_and_format_alone(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data.json", [instance("q1")])
    (question,) = open_source(QuestionSource("longmemeval", data, Filters())).read({"q1"})
    given, asked = {}, {}
    for cell in grid_of("fig6", AtHand(reader=True)).cells:
        window = window_of(laboratory_in(tmp_path), cell)
        given[cell.layout, cell.notes] = context_of(question, CHOICES[cell.mode], window).text
        asked[cell.layout, cell.notes] = prompt_of(cell.mode, window).hash
    assert "The kayak I bought is turquoise." in given["text", False]
    assert "My cat sleeps all day." not in given["text", False]
    for layout in ("text", "json"):
        assert given[layout, False] == given[layout, True]
    (said,) = given["json", True].splitlines()
    assert json.loads(said)["turns"] == [
        {"user": "The kayak I bought is turquoise."},
        {"assistant": "Noted."},
    ]
    for notes in (False, True):
        assert asked["text", notes] == asked["json", notes]
    assert asked["text", False] != asked["text", True]


def test_the_assistants_settings_for_four_prompts_differ_in_notes_and_format_alone() -> None:
    cells = grid_of("fig6", AtHand(from_memory=True)).cells
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
