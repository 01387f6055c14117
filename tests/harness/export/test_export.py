"""Exported files, read the way the official scripts read them."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from benches import Bench
from conversations import sample
from histories import chat, history, instance, turn, write_data
from scripted_judge import Fault, ScriptedJudge

from harness.datasets.questions import LONGMEMEVAL_TYPES

Harness = Any
OFFICIAL_JUDGE = "gpt-4o-2024-08-06"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def finished(bench: Bench, tmp_path: Path) -> Bench:
    bench.data_file = write_data(
        tmp_path / "data.json",
        [
            instance("q1"),
            instance("q2_abs"),
            instance("q3", question_type="single-session-assistant")
            | history(
                (
                    "answer_x",
                    "2023/05/20 (Sat) 02:21",
                    [turn("user", "A red"), turn("assistant", "colour?", has_answer=True)],
                ),
                ("f", "2023/05/21 (Sun) 02:21", [turn("assistant", "kayak"), *chat("colour")]),
                evidence=["answer_x"],
            ),
        ],
    )
    bench.replay()
    bench.report()
    return bench


def test_longmemeval_hypotheses_have_exactly_their_two_keys(
    finished: Bench, harness: Harness, tmp_path: Path
) -> None:
    out = tmp_path / "not" / "yet" / "hyp.jsonl"
    ended = harness("export", finished.out, "--format", "longmemeval", "--out", out)
    assert (ended.code, ended.out) == (0, f"3 records: {out}\n")
    assert [set(line) for line in lines(out)] == [{"question_id", "hypothesis"}] * 3
    assert {line["question_id"] for line in lines(out)} == {"q1", "q2_abs", "q3"}


def test_missing_answers_are_left_out_or_empty(
    finished: Bench, harness: Harness, tmp_path: Path
) -> None:
    kept = [
        line
        for line in (finished.out / "hypotheses.jsonl").read_text().splitlines()
        if '"q1"' not in line
    ]
    (finished.out / "hypotheses.jsonl").write_text("\n".join(kept) + "\n")
    out = tmp_path / "p.jsonl"
    command = ("export", finished.out, "--format", "locomo-refined", "--out", out)
    harness(*command)
    assert [line["qa_id"] for line in lines(out)] == ["q2_abs", "q3"]
    harness(*command, "--fill-missing")
    assert lines(out)[0] == {"qa_id": "q1", "predicted_answer": ""}


def printed(log: list[dict[str, Any]], reference: list[dict[str, Any]]) -> dict[str, Any]:
    """What LongMemEval's printing script is described to print of a result file."""
    kinds = {record["question_id"]: record["question_type"] for record in reference}
    by_type: dict[str, list[bool]] = {kind: [] for kind in kinds.values()}
    abstention: list[bool] = []
    for line in log:
        label = line["autoeval_label"]
        assert label["model"] == OFFICIAL_JUDGE
        by_type[kinds[line["question_id"]]].append(label["label"])
        if "_abs" in line["question_id"]:
            abstention.append(label["label"])
    means = {kind: mean(labels) for kind, labels in by_type.items()}
    return {
        "by_type": means,
        "task_averaged": mean(means.values()),
        "overall": mean(label for labels in by_type.values() for label in labels),
        "abstention": mean(abstention),
    }


def test_a_longmemeval_log_repeats_the_official_figures(
    harness: Harness, model: ScriptedJudge, tmp_path: Path
) -> None:
    kinds = [*LONGMEMEVAL_TYPES, *["multi-session"] * 4]
    names = [*(f"q{i}" for i in range(9)), "q9_abs"]
    data = [
        instance(name, question_type=kind, answer=f"thing {name}")
        for name, kind in zip(names, kinds, strict=True)
    ]
    file = write_data(tmp_path / "data.json", data)
    replies = {"q0": "yes", "q1": "It was yesterday.", "q3": "yes and no", "q4": "No."}
    # q7 has no answer, q8 is refused by the judge, and q4 is handed in twice.
    given = [name for name in names if name != "q7"] + ["q4"]
    said = tmp_path / "said.jsonl"
    said.write_text(
        "".join(json.dumps({"question_id": n, "hypothesis": f"said {n}"}) + "\n" for n in given)
    )

    def says(text: str) -> str:
        name = next((name for name in names if f"said {name}\n" in text), None)
        if name == "q6":
            model.faults = [Fault(400, "content filter")]
        return "no" if name is None else replies.get(name, "yes")

    model.says = says
    judged = harness(
        *("judge", "--dataset", "longmemeval", "--file", file, "--hypotheses", said),
        *("--out", tmp_path / "run", "--controls", 0, "--judge-concurrency", 1),
        *("--judge", f"longmemeval={OFFICIAL_JUDGE}@{model.url}"),
    )
    assert judged.code == 0, judged.err
    out = tmp_path / "said.jsonl.eval-results-gpt-4o"
    ended = harness("export", tmp_path / "run", "--format", "longmemeval-log", "--out", out)
    assert ended.code == 0, ended.err
    log = lines(out)
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    ours = report["accuracy"]["official"]
    assert len(log) == ours["overall"]["n"] == len(given) - 1
    theirs = printed(log, data)
    for name in ("overall", "task_averaged", "abstention"):
        assert theirs[name] == pytest.approx(ours[name]["value"]), name
    for kind, value in theirs["by_type"].items():
        assert value == pytest.approx(ours["by_type"][kind]["value"]), kind
    labels = {line["question_id"]: line["autoeval_label"]["label"] for line in log}
    assert [labels[name] for name in ("q1", "q3", "q4")] == [True, True, False]
    assert {line["judge"] for line in log} == {f"longmemeval-1={OFFICIAL_JUDGE}"}


def test_a_log_of_another_judge_says_so(finished: Bench, harness: Harness, tmp_path: Path) -> None:
    out = tmp_path / "log.jsonl"
    command = ("export", finished.out, "--format", "longmemeval-log", "--out", out)
    assert harness(*command).code == 0
    assert {line["autoeval_label"]["model"] for line in lines(out)} == {"lexical-2"}
    filled = harness(*command, "--fill-missing")
    assert (filled.code, "holds only what was judged" in filled.err) == (2, True)
    manifest = json.loads((finished.out / "manifest.json").read_text())
    (finished.out / "manifest.json").write_text(json.dumps(manifest | {"judge": None}))
    unjudged = harness(*command)
    assert (unjudged.code, "judge the run first" in unjudged.err) == (2, True)


@pytest.mark.parametrize("granularity", ["session", "turn"])
def test_a_retrieval_log_gives_the_official_figures_of_the_report(
    finished: Bench, harness: Harness, tmp_path: Path, granularity: str
) -> None:
    out = tmp_path / "log.jsonl"
    ended = harness(
        *("export", finished.out, "--format", f"retrieval-log-{granularity}"),
        *("--file", finished.data_file, "--out", out),
    )
    assert ended.code == 0, ended.err
    log = lines(out)
    assert [line["question_id"] for line in log] == ["q1", "q2_abs", "q3"]
    original = json.loads(finished.data_file.read_text())
    for line, record in zip(log, original, strict=True):
        assert {name: line[name] for name in record} == record
    report = json.loads((finished.out / "report.json").read_text())
    ours = report["retrieval"]["official"]["printing_script"][granularity]
    scored = [line for line in log if "_abs" not in line["question_id"]]
    for k in (1, 5, 10):
        for theirs, name in (
            (f"recall_all@{k}", f"recall_all@{k}"),
            (f"ndcg_any@{k}", f"ndcg@{k}[longmemeval]"),
        ):
            printed = mean(
                line["retrieval_results"]["metrics"][granularity][theirs] for line in scored
            )
            assert printed == pytest.approx(ours[name]["value"])


def test_a_retrieval_log_holds_every_item_of_the_corpus_once(
    finished: Bench, harness: Harness, tmp_path: Path
) -> None:
    out = tmp_path / "log.jsonl"
    arguments = ("--file", finished.data_file, "--out", out)
    harness("export", finished.out, "--format", "retrieval-log-turn", *arguments)
    results = lines(out)[2]["retrieval_results"]
    assert sorted(item["corpus_id"] for item in results["ranked_items"]) == ["f_2", "noans_x_1"]
    assert results["query"] == "What colour is the kayak I bought?"
    assert {item["timestamp"] for item in results["ranked_items"]} == {
        "2023/05/20 (Sat) 02:21",
        "2023/05/21 (Sun) 02:21",
    }
    assert set(results["metrics"]["session"]) >= {"recall_any@50", "recall_all@50", "ndcg_any@50"}


def test_what_cannot_be_exported_is_said(finished: Bench, harness: Harness, tmp_path: Path) -> None:
    other = write_data(tmp_path / "other.json", [instance("q1")])
    out = ("--out", tmp_path / "x")
    for arguments, complaint in [
        ((finished.out, "--format", "csv"), "unknown format 'csv', expected one of longmemeval"),
        ((finished.out, "--format", "retrieval-log-turn"), "add --file"),
        (
            (finished.out, "--format", "retrieval-log-turn", "--file", other),
            "is not the data of this run",
        ),
        ((finished.out, "--format", "locomo"), "is for runs on LoCoMo"),
        ((tmp_path / "nothing", "--format", "longmemeval"), "is not a run directory"),
    ]:
        ended = harness("export", *arguments, *out)
        assert (ended.code, complaint in ended.err) == (2, True), ended.err


def test_locomo_samples_carry_predictions_and_retrieved_turns(
    harness: Harness, bench: Bench, tmp_path: Path
) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([sample()]))
    ended = harness(
        *("run", "--dataset", "locomo", "--file", file, "--assistant", bench.assistant.url),
        *("--out", bench.out),
    )
    assert ended.code == 0, ended.err
    out = tmp_path / "scored.json"
    harness("export", bench.out, "--format", "locomo", "--name", "ours", "--out", out)
    (record,) = json.loads(out.read_text())
    assert record["sample_id"] == "conv-7"
    assert [qa["category"] for qa in record["qa"]] == [1, 2, 3, 4, 5]
    assert all(qa["ours_prediction"] and "answer" in qa for qa in record["qa"])
    assert set(record["qa"][0]["ours_prediction_context"]) == {
        "D1:1",
        "D1:2",
        "D1:3",
        "D2:1",
        "D2:2",
    }
    assert record["qa"][4]["answer"] == "Biscuit"
