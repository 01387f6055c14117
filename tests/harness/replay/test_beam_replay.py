"""BEAM and LoCoMo-Plus over the wire: told, searched and asked blinded, scored by both scorers."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from beaming import record
from benches import Bench, Finished
from conversations import sample
from rich.console import Console
from scripted_assistant import ScriptedAssistant
from scripted_judge import ScriptedJudge

from harness.datasets.beam import beam_results
from harness.datasets.beam_chats import questions_of
from harness.datasets.benchmark import Answered
from harness.datasets.questions import digest_of
from harness.datasets.selection import Filters, QuestionSource
from harness.errors import UsageError
from harness.judges.registry import make_judge
from harness.pipeline.judging import JudgePlan, judge_run
from harness.pipeline.run import Run

BEAM_SECRETS = [
    "GOLDMARK",
    "rubric",
    "LLM response",
    "->-> 1",
    "->-> 2",
    "main_question",
    "question_type",
    "time_anchor",
    "100K",
    "batch_",
    "abstention",
    "event_ordering",
    "instruction_following",
    "knowledge_update",
    "summarization",
    "source_chat_ids",
    "evidence",
    "easy",
]
PLUS = {
    "relation_type": "causal",
    "cue_dialogue": "A: I am allergic to walnuts since spring.\nB: I will remember that.",
    "trigger_query": "A: What shall I bake on Sunday?",
    "time_gap": "about two weeks later",
    "model_name": "GOLDMARK",
    "scores": {"combined": 0.5},
    "ranks": {"combined": 20},
}


@pytest.fixture
def chats(assistant: ScriptedAssistant, tmp_path: Path) -> Bench:
    file = tmp_path / "chats.json"
    file.write_text(json.dumps([record(1), record(2)]))
    return Bench(assistant, file, tmp_path / "run", dataset="beam")


def test_a_chat_is_told_once_and_nothing_else_of_the_data_goes_out(chats: Bench) -> None:
    assert chats.replay(forget="at once") == 0
    wire = chats.assistant.wire
    assert len(chats.assistant.sent("POST", "/messages")) == 2 * 8
    assert len(chats.assistant.sent("POST", "/chat")) == 2 * 5
    for sent in wire:
        everything = f"{sent.method} {sent.path} {sent.headers} {sent.body}".lower()
        for secret in BEAM_SECRETS:
            assert secret.lower() not in everything, (secret, sent)


def test_only_the_contracts_fields_are_sent(chats: Bench) -> None:
    chats.replay()
    told = [json.loads(sent.body) for sent in chats.assistant.sent("POST", "/messages")]
    messages = [message for body in told for message in body["messages"]]
    assert {frozenset(message) for message in messages} == {
        frozenset(("id", "role", "content", "timestamp"))
    }
    assert messages[0]["timestamp"] == "2024-04-09T09:00:00Z"
    asked = json.loads(chats.assistant.sent("POST", "/chat/completions")[0].body)
    assert set(asked["metadata"]) == {"user_id", "session_id", "timestamp", "memory"}
    assert asked["metadata"]["timestamp"] == "2024-05-05T09:00:02Z"


def test_recall_is_of_rounds_by_ability(chats: Bench) -> None:
    chats.replay()
    retrieval = chats.open().report()["retrieval"]
    assert retrieval is not None
    assert retrieval["round"]["recall_all@10"]["n"] == 8
    assert retrieval["excluded"]["abstention"] == 2
    assert set(retrieval["round_by_type"]) == {
        "event_ordering",
        "instruction_following",
        "knowledge_update",
        "summarization",
    }
    assert retrieval["turn"] is not None
    assert retrieval["turn"]["official"] is None
    page = (chats.out / "report.md").read_text()
    assert "Retrieval of rounds by question type" in page
    assert "event_ordering: ndcg (standard)" in page


def worth(text: str) -> str:
    """Half of every point, and the three events in order but for one that is not expected."""
    return '{"order": [1, 2, 0]}' if "<expected>" in text else '{"score": 0.5}'


def test_both_scorers_stand_side_by_side(chats: Bench, model: ScriptedJudge) -> None:
    chats.replay()
    model.says = worth
    run = chats.open()
    judge_run(run, make_judge(f"beam=examiner@{model.url}"), JudgePlan(controls=0))
    report = run.report()
    scores = report["rubric_scores"]
    assert scores is not None
    # Tau-b of (1, 2, 3, 4) and (1, 2, 4, 3) is 2/3; F1 is 2/3.
    assert scores["by_type"]["event_ordering"] == {
        "fractional": {"value": pytest.approx(5 / 6 * 2 / 3, abs=1e-4), "n": 2},
        "official": {"value": pytest.approx(5 / 6, abs=1e-4), "n": 2},
    }
    for ability in ("abstention", "instruction_following", "knowledge_update", "summarization"):
        cells = scores["by_type"][ability]
        assert (cells["fractional"]["value"], cells["official"]["value"]) == (0.5, 0.0)
    assert scores["averaged"]["fractional"]["value"] == pytest.approx(
        (4 * 0.5 + 5 / 9) / 5, abs=1e-4
    )
    assert scores["overall"]["official"]["value"] == pytest.approx(5 / 6 / 5, abs=1e-4)
    assert report["accuracy"] is not None
    assert report["accuracy"]["overall"]["value"] == 1.0
    assert "Scores by rubric, %" in (chats.out / "report.md").read_text()
    header = (chats.out / "questions.csv").read_text().splitlines()[0]
    assert "rubric.fractional,rubric.official" in header


def test_a_run_is_scored_by_words_unless_told_otherwise(
    harness: Callable[..., Finished], chats: Bench
) -> None:
    chosen = ("--dataset", "beam", "--file", chats.data_file, "--out", chats.out)
    ended = harness("run", *chosen, "--assistant", chats.assistant.url, "--no-probe")
    assert ended.code == 0
    report = json.loads((chats.out / "report.json").read_text())
    assert harness("report", chats.out, "--fail-under", "rubric.fractional=0.99").code == 3
    assert harness("report", chats.out, "--fail-under", "rubric.official=0").code == 0
    assert report["accuracy"]["judge"] == "beam-lexical-1"
    assert report["rubric_scores"]["overall"]["fractional"]["n"] == 10


def test_answers_are_exported_where_the_official_script_looks(
    harness: Callable[..., Finished], chats: Bench, tmp_path: Path
) -> None:
    chats.replay()
    out = tmp_path / "results"
    ended = harness("export", chats.out, "--format", "beam", "--out", out, "--name", "ours")
    assert ended.code == 0, ended.err
    results = json.loads((out / "100K" / "2" / "ours.json").read_text())
    assert list(results) == list(record()["probing_questions"])
    (asked,) = results["knowledge_update"]
    assert set(asked) == {"question", "rubric", "llm_response"}
    assert asked["rubric"] == ["LLM response should state: five hives"]
    assert asked["llm_response"]


def test_answers_that_the_official_script_would_score_by_another_rubric_are_not_exported() -> None:
    questions = questions_of(record(), "x")
    second = replace(digest_of(questions[0]), question_id="100K-1#abstention-1")
    with pytest.raises(UsageError, match="a question before 100K-1#abstention-1"):
        list(beam_results(Answered("beam", [second], {})))


class Plus(Bench):
    """A bench for LoCoMo-Plus, inside a conversation."""

    conversations: Path

    def open(self, **filters: Any) -> Run:
        source = QuestionSource(
            "locomo-plus", self.data_file, Filters(**filters), None, self.conversations
        )
        return Run(source, self.out, Console(stderr=True))


@pytest.fixture
def plus(assistant: ScriptedAssistant, tmp_path: Path) -> Plus:
    file, conversations = tmp_path / "plus.json", tmp_path / "locomo.json"
    file.write_text(json.dumps([PLUS]))
    conversations.write_text(json.dumps([sample()]))
    bench = Plus(assistant, file, tmp_path / "run")
    bench.conversations = conversations
    return bench


def test_a_cue_is_told_like_the_conversation_around_it(plus: Plus) -> None:
    assert plus.replay() == 0
    told = [json.loads(sent.body) for sent in plus.assistant.sent("POST", "/messages")]
    messages = [message for body in told for message in body["messages"]]
    assert [(m["timestamp"], m["name"]) for m in messages if "walnuts" in m["content"]] == [
        ("2023-05-27T00:05:00Z", "Ines")
    ]
    assert len(messages) == 7
    asked = json.loads(plus.assistant.sent("POST", "/chat/completions")[0].body)
    assert asked["messages"] == [{"role": "user", "content": "Ines: What shall I bake on Sunday?"}]
    assert asked["metadata"]["timestamp"] == "2023-06-10T00:05:00Z"
    for sent in plus.assistant.wire:
        everything = f"{sent.method} {sent.path} {sent.headers} {sent.body}".lower()
        for secret in ("GOLDMARK", "causal", "cue", "trigger", "weeks later", "plus-0", "conv-7"):
            assert secret.lower() not in everything, (secret, sent)


def test_a_kept_constraint_is_judged_by_a_model_and_unscored_by_words(
    plus: Plus, model: ScriptedJudge
) -> None:
    plus.replay()
    report = plus.report()
    assert (report["unscored"], report["retrieval"]["round"]["recall_all@10"]["n"]) == (1, 1)
    model.says = lambda text: "no" if "allergic to walnuts" in text else "Hm."
    run = plus.open()
    judge = make_judge(f"locomo-plus=examiner@{model.url}")
    judge_run(run, judge, JudgePlan(controls=0))
    report = run.report()
    assert (report["unscored"], report["accuracy"]["overall"]["value"]) == (0, 0.0)
