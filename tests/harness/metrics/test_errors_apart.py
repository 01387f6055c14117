"""Where wrong answers went wrong, from a run's files."""

import json
from pathlib import Path
from typing import Any

import pytest
from made_runs import made_run

from harness.metrics.errors_apart import ErrorPlace, errors_apart, place_of
from harness.records.run_dir import RunDir, RunLines, read_run
from harness.report.build import write_report
from harness.report.tables import report_tables


def lines_of(folder: Path, **more: Any) -> RunLines:
    """A run of one question."""
    prompts, ingested = more.pop("delivered", None), more.pop("ingested", None)
    is_ranked = more.pop("ranked", True)
    made_run(folder, {"q": more.pop("verdict", "no")}, **more)
    if not is_ranked:
        line = json.loads((folder / "retrieval.jsonl").read_text())
        for ranking in ("ranked_sessions", "ranked_rounds"):
            line[ranking] = [one for one in line[ranking] if one["session_id"] != "s1"]
        (folder / "retrieval.jsonl").write_text(json.dumps(line) + "\n")
    if prompts is not None:
        turn = {"position": 1, "turn": 0, "role": "user", "characters": 9, "found": prompts}
        line = {"question_id": "q", "tokens_estimate": 9, "evidence_turns": [turn]}
        (folder / "prompts.jsonl").write_text(json.dumps(line) + "\n")
    if ingested is not None:
        (folder / "ingest.jsonl").write_text(json.dumps({"history_id": ingested}) + "\n")
    return read_run(RunDir(folder), asks=True)


CASES: dict[ErrorPlace, dict[str, Any]] = {
    ErrorPlace.RIGHT: {"verdict": "yes"},
    ErrorPlace.UNSCORED: {"verdict": None},
    ErrorPlace.NOT_RECORDED: {"ingested": "another"},
    ErrorPlace.NOT_RETRIEVED: {"ranked": False},
    ErrorPlace.NOT_DELIVERED: {"delivered": False},
    ErrorPlace.MISREAD: {"delivered": True},
    ErrorPlace.RETRIEVED: {},
}


@pytest.mark.parametrize("place", CASES)
def test_each_question_ends_at_one_place(tmp_path: Path, place: ErrorPlace) -> None:
    lines = lines_of(tmp_path / "run", **CASES[place])
    assert place_of(lines.questions[0], lines) is place
    table = errors_apart(lines.questions, lines)
    assert table["all"] == {place.value: 1}
    assert table["by_type"] == {"multi-session": {place.value: 1}}


def test_the_legend_explains_the_columns_that_are_there(tmp_path: Path) -> None:
    verdicts = {"a": "yes", "b": "no", "c": "no"}
    folder = made_run(tmp_path / "run", verdicts, ranks={"b": 3, "c": 12})
    line = json.loads((folder / "retrieval.jsonl").read_text().splitlines()[2])
    for ranking in ("ranked_sessions", "ranked_rounds"):
        line[ranking] = line[ranking][:5]
    with (folder / "retrieval.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    (table,) = (
        one
        for one in report_tables(write_report(RunDir(folder)))
        if one.title == "Where answers went wrong"
    )
    assert table.header == ("", "right", "not retrieved", "retrieved, wrong")
    assert "Retrieved, wrong: " in table.note
    assert not any(name in table.note for name in ("delivered", "Misread", "recorded:"))


def test_what_was_read_although_it_was_not_ranked_was_misread(tmp_path: Path) -> None:
    lines = lines_of(tmp_path / "run", ranked=False, delivered=True)
    assert place_of(lines.questions[0], lines) is ErrorPlace.MISREAD
