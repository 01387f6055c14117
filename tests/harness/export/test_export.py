"""Exported files, read the way the official scripts read them."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from benches import Bench
from conversations import sample
from histories import chat, history, instance, turn, write_data

Harness = Any


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
    out = tmp_path / "hyp.jsonl"
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
