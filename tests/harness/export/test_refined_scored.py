"""LoCoMo-Refined's three files, against its scoring as it is described."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from benches import Finished
from scripted_judge import ScriptedJudge

Harness = Callable[..., Finished]
QUESTIONS = [
    ("4", ["Biscuit", "the greyhound Biscuit"], "the greyhound Biscuit"),  # equal to a reference
    ("4", ["a cat", "a pair of running shoes"], "Hm. Final answer: new running shoes"),
    ("2", ["May 2023", "7 May 2023"], "7 May"),
    ("2", ["the week before 9 June"], "2 June"),
    ("1", ["pottery"], ""),
    ("1", ["camping"], None),  # not answered
    ("3", ["yes"], "perhaps"),  # the judge's reply is unreadable
]
NAMES = {
    *("qa_id", "sample_id", "qa_index", "question", "answer", "category", "evidence"),
    *("predicted_answer", "prediction_found", "llm_judge", "success", "errors"),
    *("matched_answer", "response", "llm_score", "llm_reason", "f1_score", "bleu_score"),
}


def verdict(text: str) -> str:
    if "perhaps" in text or "in one word" in text:
        return "Hard to say."
    right = "running shoes\n</response>" in text or "\n7 May\n</response>" in text
    return json.dumps({"label": "CORRECT" if right else "WRONG"})


@pytest.fixture
def judged(harness: Harness, model: ScriptedJudge, tmp_path: Path) -> Path:
    model.says = verdict
    records, said = [], []
    for number, (category, answers, prediction) in enumerate(QUESTIONS):
        qa_id = f"conv-7#q{number:04d}"
        records.append(
            {
                "qa_id": qa_id,
                "sample_id": "conv-7",
                "question": f"Question {number}?",
                "answer": answers,
                "category": category,
                "evidence": ["D1:2"],
            }
        )
        if prediction is not None:
            said.append({"qa_id": qa_id, "predicted_answer": prediction})
    for name, lines in (("questions", records), ("said", said)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ended = harness(
        *("judge", "--dataset", "locomo-refined", "--file", tmp_path / "questions.jsonl"),
        *("--hypotheses", tmp_path / "said.jsonl", "--out", tmp_path / "run", "--controls", 0),
        *("--judge", f"locomo-refined=Qwen/Qwen3-14B@{model.url}"),
    )
    assert ended.code == 0, ended.err
    return tmp_path / "run"


def exported(harness: Harness, run: Path) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    out = run.parent / "outputs" / "predictions_scored.jsonl"
    out.parent.mkdir(exist_ok=True)
    ended = harness("export", run, "--format", "locomo-refined-scored", "--out", out)
    assert ended.code == 0, ended.err
    names = ("predictions_scored.jsonl", "predictions_scored_summary.json")
    files = [out.parent / name for name in (*names, "predictions_scored_summary.md")]
    assert ended.out == f"7 records: {', '.join(map(str, files))}\n"
    assert sorted(out.parent.iterdir()) == sorted(files)
    records = [json.loads(line) for line in files[0].read_text().splitlines()]
    return records, json.loads(files[1].read_text()), files[2].read_text()


def test_every_question_has_a_record_as_the_scorer_would_leave_it(
    harness: Harness, judged: Path
) -> None:
    records, _, _ = exported(harness, judged)
    assert all(set(record) - {"ori_response"} == NAMES for record in records)
    equal, cleaned, best, wrong, empty, missing, unread = records
    assert (equal["llm_score"], equal["f1_score"], equal["bleu_score"]) == (1, 1, 1)
    assert equal["matched_answer"] == "the greyhound Biscuit"
    assert cleaned["response"] == "new running shoes"
    assert cleaned["ori_response"] == "Hm. Final answer: new running shoes"
    assert cleaned["matched_answer"] == "a pair of running shoes"
    # Both references pass: the one with the larger F1 is taken.
    assert (best["llm_score"], best["matched_answer"]) == (1, "7 May 2023")
    assert best["f1_score"] == pytest.approx(0.8)
    assert (wrong["llm_score"], wrong["f1_score"] > 0) == (0, True)
    assert json.loads(wrong["llm_reason"]) == {"label": "WRONG"}
    assert [empty[name] for name in ("llm_score", "f1_score", "bleu_score")] == [0, 0, 0]
    assert (empty["prediction_found"], empty["errors"]) == (True, [])
    assert (missing["prediction_found"], missing["success"]) == (False, False)
    assert (missing["errors"], missing["llm_score"]) == (["MISSING_PREDICTION"], 0)
    assert (unread["llm_score"], unread["success"]) == (None, False)
    assert unread["errors"] == ["NO_VERDICT"]
    assert {record["llm_judge"] for record in records} == {"refined"}
    assert [record["qa_index"] for record in records] == list(range(7))


def test_the_summary_is_the_mean_of_the_records(harness: Harness, judged: Path) -> None:
    records, summary, page = exported(harness, judged)
    assert (summary["record_count"], summary["primary_metric"]) == (7, "llm_score")
    assert (summary["missing_predictions"], summary["without_verdict"]) == (1, 1)
    groups = {"overall": records} | {
        category: [record for record in records if record["category"] == category]
        for category in "1234"
    }
    for name, group in groups.items():
        cell = summary["overall"] if name == "overall" else summary["by_category"][name]
        assert cell["count"] == len(group)
        for metric in ("llm_score", "f1_score", "bleu_score"):
            assert cell[metric] == pytest.approx(mean(record[metric] or 0 for record in group))
    assert summary["overall"]["llm_score"] == pytest.approx(3 / 7)
    report = json.loads((judged / "report.json").read_text())
    assert report["accuracy"]["overall"]["value"] == pytest.approx(3 / 7)
    assert "| all | 42.9 |" in page
    assert "1 questions have no prediction, and 1 predictions no verdict" in page


def test_a_prediction_that_was_not_judged_is_told(harness: Harness, judged: Path) -> None:
    verdicts = (judged / "verdicts.jsonl").read_text().splitlines()
    kept = [line for line in verdicts if "#q0003" not in line]
    (judged / "verdicts.jsonl").write_text("\n".join(kept) + "\n")
    record = exported(harness, judged)[0][3]
    assert (record["llm_score"], record["errors"]) == (None, ["NO_VERDICT"])


def test_without_a_judge_words_alone_are_scored(harness: Harness, judged: Path) -> None:
    manifest = json.loads((judged / "manifest.json").read_text())
    (judged / "manifest.json").write_text(json.dumps(manifest | {"judge": None}))
    (judged / "verdicts.jsonl").unlink()
    records, summary, page = exported(harness, judged)
    assert all("llm_score" not in record for record in records)
    assert (summary["primary_metric"], "llm_score" in summary["overall"]) == ("f1_score", False)
    assert "No language model judged." in page


def test_verdicts_by_words_are_no_scores_of_a_language_model(
    harness: Harness, judged: Path
) -> None:
    ended = harness(
        *("judge", "--dataset", "locomo-refined", "--file", judged.parent / "questions.jsonl"),
        *("--hypotheses", judged.parent / "said.jsonl", "--out", judged, "--judge", "lexical"),
    )
    assert ended.code == 0, ended.err
    records, summary, page = exported(harness, judged)
    assert all("llm_score" not in record for record in records)
    assert {record["llm_judge"] for record in records} == {None}
    assert (summary["primary_metric"], summary["judge"]) == ("f1_score", None)
    assert "No language model judged." in page


def test_other_data_has_no_such_files(harness: Harness, judged: Path, tmp_path: Path) -> None:
    manifest = json.loads((judged / "manifest.json").read_text())
    manifest["dataset"]["name"] = "locomo"
    (judged / "manifest.json").write_text(json.dumps(manifest))
    ended = harness(
        "export", judged, "--format", "locomo-refined-scored", "--out", tmp_path / "x.jsonl"
    )
    assert (ended.code, "is for runs on locomo-refined" in ended.err) == (2, True)
