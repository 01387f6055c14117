"""Replies that become a run's hypotheses: which are taken, and where they are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Bench, Finished
from scripted_judge import ScriptedJudge

from harness.lab.elsewhere import ids_of
from harness.lab.handout import PromptFolder

Harness = Callable[..., Finished]


class Handed:
    """A run whose prompts were handed out, and the command that takes the replies."""

    def __init__(self, bench: Bench, harness: Harness) -> None:
        self._harness = harness
        self.out = bench.out
        self.prompts = bench.out.parent / "prompts"
        self.common = ("--dataset", "longmemeval", "--file", bench.data_file, "--controls", 0)
        self.ids = ids_of(bench.open())
        folder = PromptFolder(self.prompts)
        folder.create()
        for name in self.ids.values():
            folder.put(name, {"model": "m", "messages": [{"role": "user", "content": name}]})

    def reply(self, question: str, text: str) -> None:
        (self.prompts / f"replies/{self.ids[question]}.txt").write_text(text)

    def take(self, *more: object, out: Path | None = None) -> Finished:
        places = ("--out", out or self.out, "--prompts", self.prompts)
        return self._harness("questions", "import", *self.common, *places, *more)

    def lines(self, name: str) -> dict[str, dict[str, Any]]:
        records = map(json.loads, (self.out / name).read_text().splitlines())
        return {record["question_id"]: record for record in records}


@pytest.fixture
def handed(bench: Bench, harness: Harness) -> Handed:
    return Handed(bench, harness)


def test_missing_replies_are_counted_and_earlier_ones_stay(handed: Handed) -> None:
    handed.reply("q1", "Turquoise.")
    ended = handed.take()
    assert (ended.code, "1 answered, 2 missing" in ended.err) == (0, True), ended.err
    report = json.loads((handed.out / "report.json").read_text())
    assert (report["missing"], report["accuracy"]["overall"]["value"]) == (2, 1 / 3)
    (finding,) = report["conduct"]["diagnosis"]
    assert finding.startswith("1 of 1 answers are replies to exported prompts")

    (handed.prompts / f"replies/{handed.ids['q1']}.txt").unlink()
    handed.reply("q2", "")
    assert "2 answered, 1 missing" in handed.take().err
    said = {key: line["hypothesis"] for key, line in handed.lines("hypotheses.jsonl").items()}
    assert said == {"q1": "Turquoise.", "q2": ""}
    assert {key: line["verdict"] for key, line in handed.lines("verdicts.jsonl").items()} == {
        "q1": "yes",
        "q2": "no",
    }


def test_a_changed_reply_is_judged_again(handed: Handed) -> None:
    handed.reply("q1", "Green.")
    handed.take()
    assert handed.lines("verdicts.jsonl")["q1"]["verdict"] == "no"
    handed.reply("q1", "It is turquoise.")
    handed.take()
    assert handed.lines("verdicts.jsonl")["q1"]["verdict"] == "yes"


def test_notes_before_the_answer_are_left_out(handed: Handed) -> None:
    handed.reply("q1", "ANSWER: is what I was asked to write.\nANSWER:\nTurquoise.\n")
    handed.reply("q2", "7 days")
    assert handed.take("--answer-after", "ANSWER:").code == 0
    said = {key: line["hypothesis"] for key, line in handed.lines("hypotheses.jsonl").items()}
    assert said == {"q1": "Turquoise.", "q2": "7 days"}


def test_what_a_batch_could_not_answer_is_told(handed: Handed, tmp_path: Path) -> None:
    errors = tmp_path / "errors.jsonl"
    failed = {"custom_id": handed.ids["q1"], "response": None, "error": {"message": "expired"}}
    errors.write_text(json.dumps(failed) + "\n")
    ended = handed.take("--replies", errors)
    assert ended.code == 0
    assert "0 answered, 3 missing" in ended.err
    assert f"{handed.ids['q1']}: no reply: expired" in ended.err


def test_answers_come_by_a_batch_beside_those_by_hand(
    handed: Handed, harness: Harness, model: ScriptedJudge
) -> None:
    model.says = lambda prompt: "Turquoise." if prompt == handed.ids["q1"] else "No idea."
    handed.reply("q2", "7 days")
    there = ("--out", handed.out, "--prompts", handed.prompts)
    batch = (*there, "--batch-url", model.url, "--price", "10/100")
    assert "2 prompts" in harness("questions", "submit", *batch).out
    assert harness("questions", "collect", *batch).code == 0
    ended = handed.take()
    assert (ended.code, "3 answered, 0 missing" in ended.err) == (0, True), ended.err
    said = {key: line["hypothesis"] for key, line in handed.lines("hypotheses.jsonl").items()}
    assert said == {"q1": "Turquoise.", "q2": "7 days", "q3_abs": "No idea."}
    report = json.loads((handed.out / "report.json").read_text())
    assert report["cost"]["assistant_usd"] == pytest.approx((14 * 5 + 2 * 50) / 1e6)
    # What batches took counts against the budget of any other command.
    ended = handed.take("--max-tokens", 1, "--judge", f"strict=examiner@{model.url}")
    assert (ended.code, "--max-tokens" in ended.err) == (2, True)


def test_an_unknown_reply_ends_the_command_before_anything_is_written(handed: Handed) -> None:
    handed.reply("q1", "Turquoise.")
    (handed.prompts / "replies/kayak.txt").write_text("Turquoise.")
    ended = handed.take()
    assert (ended.code, "holds no prompt 'kayak'" in ended.err) == (2, True)
    assert not (handed.out / "hypotheses.jsonl").exists()


def test_prompts_of_another_run_are_not_taken(handed: Handed, tmp_path: Path) -> None:
    handed.reply("q1", "Turquoise.")
    ended = handed.take(out=tmp_path / "another")
    assert (ended.code, "3 prompts of another run" in ended.err) == (2, True)


def test_a_run_with_answers_of_its_own_takes_no_others(bench: Bench, harness: Harness) -> None:
    bench.replay()
    ended = Handed(bench, harness).take()
    assert (ended.code, "has hypotheses of its own" in ended.err) == (2, True)


def test_a_folder_of_questions_takes_no_verdicts(handed: Handed, harness: Harness) -> None:
    places = ("--out", handed.out, "--prompts", handed.prompts)
    for command in ("export", "import"):
        ended = harness("verdicts", command, *handed.common, *places, "--judge", "strict=ann")
        assert (ended.code, "holds questions" in ended.err) == (2, True), ended.err
