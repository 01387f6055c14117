"""Judges against labels: what is matched, what is counted, what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from histories import instance, write_data
from made_runs import made_run
from scripted_judge import ScriptedJudge
from sklearn.metrics import cohen_kappa_score

Harness = Callable[..., Finished]
KINDS = {
    "a": "multi-session",
    "b": "multi-session",
    "c": "temporal-reasoning",
    "d": "multi-session",
}
SAID: dict[str, str | None] = {"a": "yes", "b": "yes", "c": "no", "d": None}


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def labelled(name: str, label: object, **more: object) -> dict[str, Any]:
    return {"question_id": name, "hypothesis": f"said of {name}", "label": label, **more}


def agreed(harness: Harness, out: Path, *arguments: object) -> list[dict[str, Any]]:
    ended = harness("agreement", *arguments, "--out", out)
    assert ended.code == 0, ended.err
    judges: list[dict[str, Any]] = json.loads((out / "agreement.json").read_text())["judges"]
    return judges


def test_verdicts_are_crossed_with_labels_by_type_and_by_labeller(
    harness: Harness, tmp_path: Path
) -> None:
    run = made_run(tmp_path / "run", SAID, kinds=KINDS)
    labels = written(
        tmp_path / "labels.jsonl",
        labelled("a", True, labeller="Ann"),
        labelled("a", True, labeller="Ann"),  # said twice, counted once
        labelled("a", "no", judge_model="m"),
        labelled("b", "Yes", labeller="Ann"),
        labelled("c", 1, labeller="Ann"),
        labelled("d", False, labeller="Ann"),  # the judge could not be read
        labelled("b", None, labeller="Bob"),  # not labelled
        labelled("x", True, labeller="Ann"),  # not in the run
        labelled("a", True, labeller="Ann") | {"hypothesis": "something else"},
    )
    (judge,) = agreed(harness, tmp_path / "out", run, "--labels", labels)
    assert (judge["labelled"], judge["unscored"], judge["not_here"]) == (5, 1, 2)
    overall = judge["overall"]
    crossed = [overall[name] for name in ("both", "only_first", "only_second", "neither")]
    assert crossed == [2, 1, 1, 0]
    assert (overall["n"], overall["questions"]) == (4, 3)
    assert overall["agreement"]["value"] == 0.5
    assert overall["kappa"]["value"] == pytest.approx(cohen_kappa_score([1, 1, 1, 0], [1, 0, 1, 1]))
    assert {name: cell["n"] for name, cell in judge["by_type"].items()} == {
        "multi-session": 3,
        "temporal-reasoning": 1,
    }
    assert {name: cell["n"] for name, cell in judge["by_labeller"].items()} == {"Ann": 3, "m": 1}
    page = (tmp_path / "out" / "agreement.md").read_text()
    assert "| by Ann | 66.7 |" in page
    assert "1 unscored; 2 labels of other answers" in page


def test_judges_are_apart_and_the_answers_of_their_runs_together(
    harness: Harness, tmp_path: Path
) -> None:
    other = {"id": "lexical-3", "hash": "ba9876543210"}
    runs = [
        made_run(tmp_path / "one", {"a": "yes", "b": "no"}),
        made_run(tmp_path / "two", {"a": "yes", "b": "yes"}, said=" again"),
        made_run(tmp_path / "three", {"a": "no", "b": "no"}, judge=other),
    ]
    again = [labelled(n, True) | {"hypothesis": f"said of {n} again"} for n in "ab"]
    labels = written(tmp_path / "labels.jsonl", labelled("a", True), labelled("b", False), *again)
    first, second = agreed(harness, tmp_path / "out", *runs, "--labels", labels)
    assert (first["judge"], first["runs"]) == ("lexical-2", ["one", "two"])
    assert (first["overall"]["n"], first["overall"]["agreement"]["value"]) == (4, 1.0)
    assert (second["judge"], second["overall"]["n"]) == ("lexical-3", 2)
    assert second["overall"]["agreement"]["value"] == 0.5


def test_both_judges_of_a_run_and_the_result_file_of_the_official_scorer(
    harness: Harness, model: ScriptedJudge, tmp_path: Path
) -> None:
    names = ("q0", "q1", "q2")
    data = write_data(tmp_path / "d.json", [instance(name) for name in names])
    said = written(
        tmp_path / "said.jsonl",
        *({"question_id": n, "hypothesis": "It is turquoise."} for n in names),
    )
    model.says = lambda _: "no"
    judged = harness(
        *("judge", "--dataset", "longmemeval", "--file", data, "--hypotheses", said),
        *("--out", tmp_path / "run", "--second-judge", model.spec),
    )
    assert judged.code == 0, judged.err
    log = tmp_path / "log.jsonl"
    harness("export", tmp_path / "run", "--format", "longmemeval-log", "--out", log)
    first, second = agreed(harness, tmp_path / "out", tmp_path / "run", "--labels", log)
    assert (first["judge"], first["overall"]["agreement"]["value"]) == ("lexical-2", 1.0)
    assert list(first["by_labeller"]) == ["lexical-2"]
    assert (second["judge"], second["overall"]["agreement"]["value"]) == (
        "longmemeval-1=examiner",
        0.0,
    )


def test_a_label_without_an_answer_is_about_the_answer_that_there_is(
    harness: Harness, tmp_path: Path
) -> None:
    one, two = (made_run(tmp_path / n, {"a": "yes"}, said=n) for n in ("one", "two"))
    labels = written(tmp_path / "labels.jsonl", {"question_id": "a", "label": True})
    (judge,) = agreed(harness, tmp_path / "out", one, "--labels", labels)
    assert judge["overall"]["both"] == 1
    ended = harness("agreement", one, two, "--labels", labels)
    assert (ended.code, "its label names no hypothesis" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"question_id": "a"}, "record 0: label: missing"),
        ({"question_id": "a", "label": "maybe"}, "label 'maybe': expected true, false"),
        ({"question_id": "a", "label": 0.5}, "label 0.5: expected true, false"),
        ({"label": True}, "question_id: expected text"),
        (labelled("zz", True), "no label is about an answer that was judged in these runs"),
    ],
)
def test_labels_that_cannot_be_used_are_said(
    harness: Harness, tmp_path: Path, line: dict[str, Any], complaint: str
) -> None:
    run = made_run(tmp_path / "run", SAID)
    ended = harness("agreement", run, "--labels", written(tmp_path / "l.jsonl", line))
    assert (ended.code, complaint in ended.err) == (2, True), ended.err


def test_runs_that_cannot_be_used_are_said(harness: Harness, tmp_path: Path) -> None:
    labels = written(tmp_path / "l.jsonl", labelled("a", True))
    run = made_run(tmp_path / "run", SAID)
    unjudged = made_run(tmp_path / "unjudged", SAID, judge=None)
    for runs, complaint in [
        ((run, run), "named twice"),
        ((unjudged,), "none of these runs was judged"),
        ((tmp_path / "nothing",), "is not a run directory"),
    ]:
        ended = harness("agreement", *runs, "--labels", labels)
        assert (ended.code, complaint in ended.err) == (2, True), ended.err
