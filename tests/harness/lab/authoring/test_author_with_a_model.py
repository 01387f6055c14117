"""The pipeline with a scripted model over HTTP: whole, killed at every call, and badly answered."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from nursery import NURSERY
from scripted_author import author_says
from scripted_judge import Fault, ScriptedJudge

from harness.datasets.longmemeval import load_longmemeval
from harness.lab.authoring.plan import TYPES

Harness = Callable[..., Finished]


@pytest.fixture
def writer(model: ScriptedJudge) -> ScriptedJudge:
    """A model that can write questions."""
    model.says = lambda _: author_says(model.sent[-1]["messages"])
    return model


def arguments(model: ScriptedJudge, out: Path, *more: object) -> list[str]:
    given = ("author", "--model", f"writer@{model.url}", "--out", out, "--concurrency", 1)
    return [str(one) for one in (*given, "--sessions", 8, "--per-type", 1, *more)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def files_of(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_a_model_writes_all_seven_types_and_every_prompt_and_reply_is_kept(
    harness: Harness, writer: ScriptedJudge, tmp_path: Path
) -> None:
    ended = harness(*arguments(writer, tmp_path / "out"))
    assert ended.code == 0, ended.err
    questions = load_longmemeval(tmp_path / "out" / "questions.json")
    assert [one.question_type for one in questions] == [*TYPES[:-1], "single-session-user"]
    assert [one.is_abstention for one in questions] == [False] * 6 + [True]
    kept = lines(tmp_path / "out" / "calls.jsonl")
    assert [line["messages"] for line in kept] == [sent["messages"] for sent in writer.sent]
    steps = Counter(line["step"].split()[0] for line in kept)
    assert steps["persona"] == steps["question"] == steps["evidence"] == steps["check"] == 7
    for name in ("personas", "questions", "evidence", "chats", "checks"):
        assert len(lines(tmp_path / "out" / f"{name}.jsonl")) == 7


def test_what_was_paid_is_not_paid_again(
    harness: Harness, writer: ScriptedJudge, tmp_path: Path
) -> None:
    harness(*arguments(writer, tmp_path / "out"))
    first, paid = files_of(tmp_path / "out"), len(writer.sent)
    assert harness(*arguments(writer, tmp_path / "out")).code == 0
    assert len(writer.sent) == paid
    assert files_of(tmp_path / "out") == first


def test_killed_at_every_call_it_ends_as_if_it_never_was(
    harness: Harness, writer: ScriptedJudge, tmp_path: Path
) -> None:
    types = ("--types", "single-session-user")
    harness(*arguments(writer, tmp_path / "whole", *types))
    calls = len(writer.sent)
    out, answered = tmp_path / "killed", [0]
    for call in range(calls):
        process = NURSERY.start(
            ["harness", *arguments(writer, out, *types)], stderr=subprocess.DEVNULL
        )
        before = len(writer.sent)

        def says(_: str, process: Any = process, before: int = before, call: int = call) -> str:
            # Each time one more call is answered, and the next one ends it.
            if len(writer.sent) - before > min(call, 1):
                process.kill()
            else:
                answered[0] += 1
            return author_says(writer.sent[-1]["messages"])

        writer.says = says
        assert process.wait(60) != 0, call
    writer.says = lambda _: author_says(writer.sent[-1]["messages"])
    assert harness(*arguments(writer, out, *types)).code == 0
    assert answered[0] == calls - 1
    assert files_of(out) == files_of(tmp_path / "whole")


def test_a_reply_that_cannot_be_used_is_asked_for_again_with_the_reason(
    harness: Harness, writer: ScriptedJudge, tmp_path: Path
) -> None:
    spoiled = {'{"question": "..."': "Sure! What a nice task.", '{"statements": [': "[]"}

    def says(last: str) -> str:
        for mark, reply in spoiled.items():
            if mark in last:
                return reply
        return author_says(writer.sent[-1]["messages"])

    writer.says = says
    out = tmp_path / "out"
    ended = harness(*arguments(writer, out, "--types", "single-session-user"))
    assert ended.code == 0, ended.err
    again = [line for line in lines(out / "calls.jsonl") if line["attempt"] == 1]
    assert [line["step"] for line in again] == ["question", "evidence"]
    assert all("it holds no JSON object" in line["messages"][-1]["content"] for line in again)
    assert json.loads((out / "checks.jsonl").read_text())["status"] == "passed"


@pytest.mark.parametrize(
    ("step", "mark", "reply", "reason"),
    [
        ("persona", "Invent a person", "", "it is empty"),
        ("question", '{"question": "..."', '{"question": 3}', "question and answer must be texts"),
        ("evidence", '{"statements": [', '{"statements": ["a", "b", "c"]}', "1 are wanted"),
        ("chat", "<statement>", "I like trains.", "it does not say this in its words"),
        ("check", "Does the answer follow?", "Perhaps.", "say yes or no"),
    ],
)
def test_an_item_without_a_usable_reply_is_refused_and_said_to_be(
    harness: Harness,
    writer: ScriptedJudge,
    tmp_path: Path,
    step: str,
    mark: str,
    reply: str,
    reason: str,
) -> None:
    def says(_: str) -> str:
        messages = writer.sent[-1]["messages"]
        bad = mark in str(messages[0]["content"]) and is_first_item()
        return reply if bad else author_says(messages)

    def is_first_item() -> bool:
        prompts = {str(sent["messages"][0]["content"]) for sent in writer.sent}
        return sum(prompt.startswith("Invent a person") for prompt in prompts) == 1

    writer.says = says
    out = tmp_path / "out"
    ended = harness(*arguments(writer, out, "--types", "single-session-user,multi-session"))
    checks = lines(out / "checks.jsonl")
    assert ended.code == 1
    assert checks[0]["status"] == "refused"
    assert checks[0]["problems"][0].startswith(step)
    assert reason in checks[0]["problems"][0]
    assert reason in ended.err
    assert [line["status"] for line in checks[1:]] == ["passed"]
    assert len(load_longmemeval(out / "questions.json")) == 1


def test_a_question_that_the_model_cannot_answer_is_doubtful_and_not_written(
    harness: Harness, writer: ScriptedJudge, tmp_path: Path
) -> None:
    def says(last: str) -> str:
        if "Does the answer follow?" in last and "How many looms?" in last:
            return "No."
        return author_says(writer.sent[-1]["messages"])

    writer.says = says
    out = tmp_path / "out"
    ended = harness(*arguments(writer, out, "--types", "multi-session,single-session-user"))
    assert ended.code == 0
    assert "doubtful: the model does not come to this answer" in ended.err
    assert len(load_longmemeval(out / "questions.json")) == 1


def test_a_model_that_refuses_the_key_stops_the_command(
    harness: Harness, writer: ScriptedJudge, tmp_path: Path
) -> None:
    writer.faults = [Fault(401, "no such key")]
    ended = harness(*arguments(writer, tmp_path / "out"))
    assert ended.code == 2
    assert "author writer at" in ended.err
    assert "no such key" in ended.err
    assert not (tmp_path / "out" / "questions.json").exists()
    assert harness(*arguments(writer, tmp_path / "out")).code == 0


def test_a_dry_run_says_what_it_takes_and_sends_nothing(
    harness: Harness, writer: ScriptedJudge, tmp_path: Path
) -> None:
    ended = harness(*arguments(writer, tmp_path / "out", "--dry-run", "--price", "1/2"))
    assert ended.code == 0
    assert "US dollars" in ended.out
    assert writer.sent == []
    assert not (tmp_path / "out").exists()


def test_a_budget_holds_over_several_commands(
    harness: Harness, writer: ScriptedJudge, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ended = harness(*arguments(writer, out, "--max-tokens", 500))
    paid = len(writer.sent)
    assert ended.code == 2
    assert "--max-tokens 500" in ended.err
    assert harness(*arguments(writer, out, "--max-tokens", 500)).code == 2
    assert len(writer.sent) == paid
    assert harness(*arguments(writer, out)).code == 0
