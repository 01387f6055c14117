"""The page of an experiment, of finished cells: figures with n, contrasts, what was cut."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from made_cells import laboratory_in
from made_runs import made_run

from harness.comparison.runs import read_run_at
from harness.lab.experiments.cells import Cell, Grid
from harness.lab.experiments.contrasts import RECALL, RIGHT, FinishedCell, contrasts_of
from harness.lab.experiments.experiment import finish_cell
from harness.lab.experiments.page import write_page

NAMES = [f"q{n}" for n in range(8)]
ALL_RIGHT = dict.fromkeys(NAMES, "yes")


def measured(out: Path, cell: Cell, wrong: int = 0, lost: int = 0, **made: Any) -> FinishedCell:
    """A cell that answers the first `wrong` questions wrong, and finds the last `lost` late."""
    verdicts = ALL_RIGHT | dict.fromkeys(NAMES[:wrong], "no")
    ranks = dict.fromkeys(NAMES[len(NAMES) - lost :], 8)
    folder = made_run(out / "cells" / cell.name, verdicts, ranks=ranks, **made)
    return FinishedCell(cell, read_run_at(folder, cell.name))


def test_cells_are_compared_inside_their_block_and_corrected_over_all_blocks(
    tmp_path: Path,
) -> None:
    cells = [
        measured(tmp_path, Cell("a-off", "a, off", block="a")),
        measured(tmp_path, Cell("a-on", "a, on", block="a"), wrong=7, lost=2),
        measured(tmp_path, Cell("b-off", "b, off", block="b"), wrong=1),
        measured(tmp_path, Cell("b-on", "b, on", block="b"), wrong=8),
    ]
    found = {(one["figure"], one["cell"]): one for one in contrasts_of(cells)}
    assert {(cell, one["base"]) for (_, cell), one in found.items()} == {
        ("a-on", "a-off"),
        ("b-on", "b-off"),
    }
    first, second = found[RIGHT, "a-on"], found[RIGHT, "b-on"]
    assert (first["n"], first["only_base"], first["only_cell"]) == (8, 7, 0)
    assert first["p"] == pytest.approx(2 * 0.5**7)
    assert first["p_holm"] == pytest.approx(2 * first["p"])
    assert second["p_holm"] == pytest.approx(2 * 0.5**6)
    assert found[RECALL, "a-on"]["difference"]["value"] == pytest.approx(-2 / 8)


def test_recall_is_compared_with_recall_of_the_same_level_and_told_once(tmp_path: Path) -> None:
    cells = [
        measured(tmp_path, Cell("rounds", "rounds", level="round")),
        measured(tmp_path, Cell("sessions", "sessions")),
        measured(tmp_path, Cell("facts", "facts", level="fact"), lost=1),
        measured(tmp_path, Cell("again", "again", is_found_before=True), lost=3),
    ]
    found = contrasts_of(cells)
    recall = [(one["base"], one["cell"]) for one in found if one["figure"] == RECALL]
    assert recall == [("sessions", "facts")]
    right = {(one["base"], one["cell"]) for one in found if one["figure"] == RIGHT}
    assert right == {("rounds", cell) for cell in ("sessions", "facts", "again")}


def test_a_figure_has_its_n_and_its_interval_by_history(tmp_path: Path) -> None:
    own = measured(tmp_path, Cell("own", "own"), lost=4).share(RECALL)
    histories = {name: f"h{int(name[1:]) // 4}" for name in NAMES}
    shared = measured(tmp_path, Cell("shared", "shared"), lost=4, histories=histories)
    assert own is not None
    assert (own["value"], own["n"]) == (0.5, 8)
    assert 0.2 < own["low"] < 0.25
    # Two conversations, of which one is found and the other is not.
    drawn = shared.share(RECALL)
    assert drawn is not None
    assert (drawn["low"], drawn["high"]) == (0.0, 1.0)


def test_the_page_tells_n_types_contrasts_and_what_was_cut(tmp_path: Path) -> None:
    laboratory = laboratory_in(tmp_path)
    kinds = dict.fromkeys(NAMES[:3], "temporal-reasoning")
    grid = Grid("table9", "Made", "About.", [Cell("one", "one"), Cell("other", "other")])
    for cell, wrong in zip(grid.cells, (0, 3), strict=True):
        measured(tmp_path, cell, wrong=wrong, kinds=kinds)
        finish_cell(laboratory, cell, 0, 1.0)
    cut_in(tmp_path / "cells" / "other", NAMES[:5])
    write_page(laboratory, grid)
    page = (tmp_path / "experiment.md").read_text()
    assert "other: of 5 of 8 histories only the latest sessions were given" in page
    assert "67.6 to 100.0, 8" in page
    assert "| other – one | right | 8 | −37.5 |" in page
    assert "| 0 : 3 | 0.250 |" in page
    other = json.loads((tmp_path / "experiment.json").read_text())["cells"][1]
    assert other["by_type"]["temporal-reasoning"][RIGHT]["value"] == 0
    assert other["by_type"]["multi-session"][RIGHT]["n"] == 5
    assert other["p_accuracy"] == 0.25


def cut_in(folder: Path, names: list[str]) -> None:
    """As if the histories of these questions had been cut."""
    file = folder / "hypotheses.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        line["context"] = account(4000 if line["question_id"] in names else 0)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def account(cut: int) -> Mapping[str, int]:
    return {
        "sessions": 3,
        "sessions_cut": int(cut > 0),
        "sessions_shortened": 0,
        "tokens_estimate": 120_000,
        "tokens_cut_estimate": cut,
    }
