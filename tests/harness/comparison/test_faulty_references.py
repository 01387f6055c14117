"""Scores with and without the questions whose reference a dossier calls faulty."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from benches import Bench, Finished
from histories import instance, write_data
from made_runs import made_run

Harness = Callable[..., Finished]
VERDICTS = {"a": "yes", "b": "no", "c": "yes", "d": "no"}
FAULT = {
    "question_id": "b",
    "answer": 7,
    "evidence": ["s1"],
    "wrong": "It counts a cancelled trip.",
}


def dossier(path: Path, *records: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def report(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "report.json").read_text()))


def test_a_report_gives_scores_with_and_without_them(harness: Harness, tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", VERDICTS, ranks={"b": 9})
    named = dossier(tmp_path / "faults.jsonl", FAULT, {"question_id": "z", "wrong": "No such day."})
    ended = harness("report", run, "--dossier", named)
    assert ended.code == 0, ended.err
    found = report(run)["faulty"]
    assert [one["question_id"] for one in found["faults"]] == ["b"]
    shares = {
        name: [(cell["value"], cell["n"]) for cell in (one["all"], one["without"])]
        for name, one in found["figures"].items()
    }
    assert shares == {
        "accuracy": [(0.5, 4), (pytest.approx(2 / 3), 3)],
        "recall_all@5": [(0.75, 4), (1.0, 3)],
        "recall_all@10": [(1.0, 4), (1.0, 3)],
    }
    assert "66.7 (3)" in ended.out
    assert "It counts a cancelled trip." in (run / "report.html").read_text()
    assert report(run)["accuracy"]["overall"]["n"] == 4
    harness("report", run)
    assert report(run)["faulty"] == found


def test_a_comparison_is_given_with_and_without_them(harness: Harness, tmp_path: Path) -> None:
    first = made_run(tmp_path / "a", VERDICTS)
    second = made_run(tmp_path / "b", VERDICTS | {"b": "yes"})
    harness("report", second, "--dossier", dossier(tmp_path / "faults.jsonl", FAULT))
    ended = harness("compare", first, second, "--out", tmp_path / "both")
    item = json.loads((tmp_path / "both" / "compare.json").read_text())["comparisons"][0]
    assert item["accuracy"]["difference"]["value"] == 0.25
    without = item["without_faulty"]
    assert (without["n"], without["difference"]["value"]) == (3, 0)
    assert "without faulty references" in " ".join(ended.out.split())
    harness("compare", first, made_run(tmp_path / "c", VERDICTS), "--out", tmp_path / "plain")
    plain = json.loads((tmp_path / "plain" / "compare.json").read_text())["comparisons"][0]
    assert plain["without_faulty"] is None


def test_a_data_file_carries_its_dossier(bench: Bench, tmp_path: Path) -> None:
    bench.data_file = write_data(tmp_path / "data.json", [instance("q1"), instance("q2")])
    fault = {"question_id": "q2", "wrong": "Nobody says so."}
    dossier(tmp_path / "data.dossier.jsonl", fault)
    bench.replay()
    found = bench.report()["faulty"]
    assert found["faults"] == [fault | {"evidence": []}]
    assert found["figures"]["recall_all@5"]["without"]["n"] == 1


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([{"question_id": "b"}], "wrong: expected text"),
        ([FAULT, FAULT], "a second record of b"),
        ([FAULT | {"evidence": "s1"}], "evidence: expected a list"),
        ([FAULT | {"question_id": "z"}], "names no question of this run"),
    ],
)
def test_a_dossier_that_says_nothing_is_refused(
    harness: Harness, tmp_path: Path, records: list[dict[str, Any]], said: str
) -> None:
    run = made_run(tmp_path / "run", VERDICTS)
    ended = harness("report", run, "--dossier", dossier(tmp_path / "faults.jsonl", *records))
    assert ended.code == 2
    assert said in ended.err
