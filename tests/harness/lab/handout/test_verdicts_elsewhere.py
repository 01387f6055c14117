"""A judge's prompts out and its replies in: the verdicts are those of the judge over HTTP."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from histories import three_questions, write_data
from scripted_judge import ScriptedJudge

Harness = Callable[..., Finished]
SAID = {"q1": "Turquoise.", "q2": "A week.", "q3_abs": "No idea about a tent."}


@pytest.fixture
def judging(tmp_path: Path) -> tuple[object, ...]:
    """The options that every way of judging shares."""
    said = tmp_path / "said.jsonl"
    lines = ({"question_id": key, "hypothesis": text} for key, text in SAID.items())
    said.write_text("".join(json.dumps(line) + "\n" for line in lines))
    data = write_data(tmp_path / "data.json", three_questions())
    return ("--dataset", "longmemeval", "--file", data, "--controls", 2)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def unordered(path: Path) -> list[str]:
    return sorted(json.dumps(line, sort_keys=True) for line in lines(path))


def verdict_of(prompt: str) -> str:
    """A judge that rambles about the week until it is asked for one word."""
    if "one word" in prompt:
        return "no"
    return "Well, well." if "A week." in prompt else "yes" if "Turquoise" in prompt else "no"


def answer_all(prompts: Path, results: Path) -> None:
    """The result file that a batch API would give."""

    def result(line: dict[str, Any]) -> dict[str, Any]:
        text = verdict_of(line["body"]["messages"][-1]["content"])
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}
        body = {"choices": [choice], "usage": usage}
        response = {"status_code": 200, "request_id": "r", "body": body}
        return {"id": "b", "custom_id": line["custom_id"], "response": response, "error": None}

    made = map(result, lines(prompts / "batch.jsonl"))
    results.write_text("".join(json.dumps(line) + "\n" for line in made))


@pytest.mark.parametrize(
    ("judge", "votes", "rounds"),
    [("longmemeval", 1, 2), ("longmemeval", 3, 4), ("locomo-refined", 1, 2)],
)
def test_verdicts_are_those_of_the_judge_over_http(
    harness: Harness,
    model: ScriptedJudge,
    judging: tuple[object, ...],
    tmp_path: Path,
    judge: str,
    votes: int,
    rounds: int,
) -> None:
    model.says = verdict_of
    asked = f"examiner@{model.url}"
    spec = ("--judge", f"{judge}={asked}", "--second-judge", f"strict={asked}")
    spec = (*spec, "--judge-votes", votes, "--judge-anyway")
    said = tmp_path / "said.jsonl"
    ended = harness("judge", *judging, *spec, "--hypotheses", said, "--out", tmp_path / "http")
    assert ended.code == 0, ended.err
    sent = model.sent
    model.sent = []

    prompts, results = tmp_path / "prompts", tmp_path / "results.jsonl"
    there = (*judging, *spec, "--out", tmp_path / "away", "--prompts", prompts)
    ended = harness("verdicts", "export", *there, "--hypotheses", said)
    assert ended.code == 0, ended.err
    assert not (tmp_path / "away/verdicts.jsonl").exists()
    waiting = []
    while not waiting or waiting[-1]:
        answer_all(prompts, results)
        ended = harness("verdicts", "import", *there, "--replies", results)
        assert ended.code == 0, ended.err
        waiting.append(int(ended.err.split(" prompts in ")[0].split()[-1]))
    # What rambled is asked once more, one vote after the other.
    assert len(waiting) == rounds
    assert model.sent == []
    for name in ("verdicts.jsonl", "controls.jsonl", "second_verdicts.jsonl"):
        assert unordered(tmp_path / "away" / name) == unordered(tmp_path / "http" / name)
    handed = {json.dumps(line["body"], sort_keys=True) for line in lines(prompts / "batch.jsonl")}
    assert handed == {json.dumps(body, sort_keys=True) for body in sent}


def test_replies_may_come_bit_by_bit_and_from_a_person(
    harness: Harness, model: ScriptedJudge, judging: tuple[object, ...], tmp_path: Path
) -> None:
    prompts, out = tmp_path / "prompts", tmp_path / "run"
    there = (*judging, "--controls", 0, "--judge", "longmemeval=ann")
    there = (*there, "--out", out, "--prompts", prompts)
    said = ("--hypotheses", tmp_path / "said.jsonl")
    assert "3 prompts" in harness("verdicts", "export", *there, *said).out
    by_text = {
        key: next(p for p in (prompts / "prompts").iterdir() if SAID[key] in p.read_text())
        for key in SAID
    }
    (prompts / "replies" / by_text["q1"].name).write_text("yes\n")
    ended = harness("verdicts", "import", *there)
    assert (ended.code, "2 prompts" in ended.err) == (0, True), ended.err
    found = {line["question_id"]: line for line in lines(out / "verdicts.jsonl")}
    assert {key: line["verdict"] for key, line in found.items()} == {
        "q1": "yes",
        "q2": None,
        "q3_abs": None,
    }
    assert found["q2"]["error"] == "JudgeReplyAwaited"
    report = json.loads((out / "report.json").read_text())
    assert (report["missing"], report["unscored"]) == (0, 2)

    for key in ("q2", "q3_abs"):
        (prompts / "replies" / by_text[key].name).write_text("No.")
    assert "0 prompts" in harness("verdicts", "import", *there).err
    assert json.loads((out / "report.json").read_text())["unscored"] == 0
    assert [line["verdict"] for line in lines(out / "verdicts.jsonl")] == ["yes", "no", "no"]

    (prompts / "replies" / by_text["q2"].name).write_text("Yes.")
    assert "0 prompts" in harness("verdicts", "import", *there).err
    assert {line["question_id"]: line["verdict"] for line in lines(out / "verdicts.jsonl")} == {
        "q1": "yes",
        "q2": "yes",
        "q3_abs": "no",
    }
    assert json.loads((out / "manifest.json").read_text())["judge"]["model"] == "ann"


def test_a_judge_without_a_model_asks_nobody(
    harness: Harness, judging: tuple[object, ...], tmp_path: Path
) -> None:
    there = ("--out", tmp_path / "run", "--prompts", tmp_path / "prompts")
    ended = harness("verdicts", "export", *judging, *there)
    assert (ended.code, "asks nobody" in ended.err) == (2, True)


def test_a_run_without_answers_has_nothing_to_judge(
    harness: Harness, judging: tuple[object, ...], tmp_path: Path
) -> None:
    there = ("--out", tmp_path / "run", "--prompts", tmp_path / "prompts")
    ended = harness("verdicts", "export", *judging, *there, "--judge", "longmemeval=ann")
    assert (ended.code, "holds no hypotheses" in ended.err) == (2, True)
