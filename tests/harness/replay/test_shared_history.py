"""Questions of one conversation: brought in once, asked each, continued without doing it again."""

import json
from pathlib import Path
from typing import Any

import pytest
from benches import QUICK, Bench, Finished
from conversations import sample
from rich.console import Console
from scripted_assistant import Fault, ScriptedAssistant

from harness.datasets.selection import Filters, QuestionSource
from harness.judges.lexical import LexicalJudge
from harness.pipeline.judging import judge_run
from harness.pipeline.run import Run
from harness.records.run_dir import HYPOTHESES, INGEST, RETRIEVAL


@pytest.fixture
def locomo_file(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([sample("conv-7"), sample("conv-8")]))
    return path


class Conversations(Bench):
    """A bench for LoCoMo files."""

    def open(self, **filters: Any) -> Run:
        source = QuestionSource("locomo", self.data_file, Filters(**filters))
        return Run(source, self.out, Console(stderr=True))


@pytest.fixture
def talks(assistant: ScriptedAssistant, locomo_file: Path, tmp_path: Path) -> Conversations:
    return Conversations(assistant, locomo_file, tmp_path / "run")


def test_a_conversation_is_brought_in_once_for_all_its_questions(talks: Conversations) -> None:
    assert talks.replay() == 0
    assert len(talks.assistant.memory.users) == 2
    assert len(talks.assistant.sent("POST", "/messages")) == 2 * 5
    assert len(talks.assistant.sent("POST", "/chat")) == 2 * 5
    run = talks.open()
    assert set(run.dir.by_history(INGEST)) == {"conv-7", "conv-8"}
    report = talks.report()
    assert (report["n"], report["ingest"]["rounds"], report["missing"]) == (10, 10, 0)
    assert report["official_metrics"]["overall"]["f1"]["n"] == 10
    assert report["retrieval"]["turn"]["strict"]["overall"]["recall_all@5"]["n"] == 8


def test_speakers_go_out_by_name_and_nothing_else_of_the_data_does(talks: Conversations) -> None:
    talks.replay()
    sent = talks.assistant.sent("POST", "/messages")
    messages = [m for request in sent for m in json.loads(request.body)["messages"]]
    assert {(m["role"], m["name"]) for m in messages} == {("user", "Ines"), ("user", "Tom")}
    everything = "\n".join(f"{s.path} {s.headers} {s.body}" for s in talks.assistant.wire)
    for label in ("conv-7", "D1:1", "session_1", "adversarial", "multi-hop", "evidence"):
        assert label not in everything


def test_a_failed_question_is_tried_again_without_bringing_the_history_in_again(
    talks: Conversations,
) -> None:
    talks.assistant.faults = [Fault("POST /v1/chat", "status", times=QUICK.attempts)]
    assert talks.replay(concurrency=1) == 1
    brought = len(talks.assistant.sent("POST", "/messages"))
    searched = len(talks.open().dir.records(RETRIEVAL))
    assert talks.replay() == 0
    assert len(talks.assistant.sent("POST", "/messages")) == brought
    assert len(talks.open().dir.records(RETRIEVAL)) == searched == 10
    assert len(talks.open().dir.by_question(HYPOTHESES)) == 10


def test_a_history_the_assistant_has_lost_is_brought_in_again(talks: Conversations) -> None:
    talks.replay()
    (talks.out / HYPOTHESES).unlink()
    talks.assistant.memory.users.popitem()
    brought = len(talks.assistant.sent("POST", "/messages"))
    assert talks.replay() == 0
    assert len(talks.assistant.sent("POST", "/messages")) == brought + 5


def test_a_history_that_cannot_be_brought_in_fails_all_its_questions(talks: Conversations) -> None:
    talks.assistant.faults = [Fault("POST .*messages", "status", times=QUICK.attempts)]
    assert talks.replay(concurrency=1) == 5
    report = talks.report()
    assert (report["failed"], report["missing"]) == (5, 5)
    assert report["official_metrics"]["missing"] == 5


def test_forgetting_waits_for_the_last_question(talks: Conversations) -> None:
    assert talks.replay(forget="at once") == 0
    assert talks.assistant.memory.users == {}
    assert len(talks.open().dir.by_question(HYPOTHESES)) == 10


def test_refined_predictions_are_scored_alone(harness: Any, tmp_path: Path) -> None:
    question = {
        "qa_id": "conv-7#q0000",
        "sample_id": "conv-7",
        "question": "What is Tom's dog called?",
        "answer": ["Biscuit", "the greyhound Biscuit"],
        "category": "4",
    }
    questions = tmp_path / "questions.jsonl"
    others = (question | {"qa_id": f"conv-7#q{n:04d}"} for n in (1, 2))
    questions.write_text("\n".join(json.dumps(q) for q in (question, *others)))
    predictions = tmp_path / "predictions.jsonl"
    lines = [
        {"qa_id": "conv-7#q0000", "predicted_answer": "the greyhound Biscuit"},
        {"conversation_idx": 0, "qa_index": 1, "response": "Rex"},
    ]
    predictions.write_text("\n".join(json.dumps(line) for line in lines))
    command = ("judge", "--dataset", "locomo-refined", "--file", questions)
    ended: Finished = harness(
        *command, "--hypotheses", predictions, "--out", tmp_path / "scored", "--judge", "lexical"
    )
    assert ended.code == 0, ended.err
    report = json.loads((tmp_path / "scored" / "report.json").read_text())
    assert (report["n"], report["missing"]) == (3, 1)
    metrics = report["official_metrics"]
    assert metrics["overall"]["bleu1"] == {"value": pytest.approx(1 / 3), "n": 3}
    assert metrics["present"]["f1"] == {"value": pytest.approx(1 / 2), "n": 2}
    assert "Official metrics of locomo-refined" in ended.out
    predictions.write_text('{"qa_id": "elsewhere", "predicted_answer": "x"}')
    ended = harness(*command, "--hypotheses", predictions, "--out", tmp_path / "other")
    assert (ended.code, "answers no question of this data set" in ended.err) == (2, True)


def test_the_lexical_judge_takes_any_category(talks: Conversations) -> None:
    talks.assistant.answers = {"What is Ines's dog called?": "That was not mentioned."}
    talks.replay()
    run = talks.open()
    judge_run(run, LexicalJudge())
    by_type = run.report()["accuracy"]["by_type"]
    assert by_type["adversarial"]["value"] == 1.0
