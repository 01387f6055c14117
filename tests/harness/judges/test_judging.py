"""The judging stage of a run: controls, a second judge, going on after an interruption."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from histories import instance, write_data
from scripted_judge import Fault, ScriptedJudge

from harness.datasets.longmemeval import parse_instances
from harness.datasets.questions import digest_of
from harness.judges.lexical import LexicalJudge
from harness.metrics.judge_table import controls_table, draw_controls, second_judge_table, unlike
from harness.records.digest import QuestionDigest

Harness = Callable[..., Finished]
ANSWERS = ("turquoise", "a wooden oar", "on the harbour pier", "Miriam", "seven", "liquorice")


def records() -> list[dict[str, Any]]:
    made = [
        instance(f"q{i}", question=f"What about item number {i}0?", answer=answer)
        for i, answer in enumerate(ANSWERS)
    ]
    return [*made, instance("q9_abs", answer="You did not mention a tent.")]


def digests() -> list[QuestionDigest]:
    return [digest_of(item) for item in parse_instances(records(), source="f")]


@pytest.fixture
def model(model: ScriptedJudge) -> ScriptedJudge:
    model.says = lambda text: "yes" if "turquoise" in text.lower() else "no"
    return model


@pytest.fixture
def files(tmp_path: Path) -> tuple[object, ...]:
    data = write_data(tmp_path / "data.json", records())
    lines = [{"question_id": f"q{i}", "hypothesis": f"It is {a}."} for i, a in enumerate(ANSWERS)]
    lines.append({"question_id": "q9_abs", "hypothesis": "I don't know."})
    said = tmp_path / "said.jsonl"
    said.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ("judge", "--dataset", "longmemeval", "--file", data, "--hypotheses", said)


def read(out: Path, name: str) -> Any:
    text = (out / name).read_text()
    return (
        json.loads(text)
        if name.endswith(".json")
        else [json.loads(x) for x in text.split("\n") if x]
    )


def test_controls_are_drawn_by_seed_and_from_unlike_questions() -> None:
    questions = digests()
    said = {question.question_id: f"Well, {question.answer}" for question in questions}
    drawn = draw_controls(questions, said, sample=100, seed=3)
    assert drawn == draw_controls(questions, said, sample=100, seed=3)
    assert drawn != draw_controls(questions, said, sample=100, seed=4)
    by_id = {question.question_id: question for question in questions}
    for control in drawn:
        if control.donor:
            donor = by_id[control.donor]
            assert unlike(control.question, donor)
            assert not donor.is_abstention
            assert donor.answer in control.hypothesis
    kinds = [control.kind for control in drawn if control.question.is_abstention]
    assert sorted(kinds) == ["empty", "known_wrong", "reference"]
    assert len(draw_controls(questions, said, sample=2, seed=0)) == 10
    assert draw_controls(questions, said, sample=0, seed=0) == []


def test_a_question_alone_has_no_donor_and_a_preference_no_reference_to_pass() -> None:
    (one,) = (digest_of(q) for q in parse_instances([instance()], source="f"))
    kinds = {control.kind for control in draw_controls([one], {}, sample=1, seed=0)}
    assert kinds == {"reference", "empty", "dont_know"}
    record = instance(question_type="single-session-preference")
    (wish,) = (digest_of(q) for q in parse_instances([record], source="f"))
    kinds = {control.kind for control in draw_controls([wish], {}, sample=1, seed=0)}
    assert kinds == {"empty", "dont_know"}


def test_questions_that_share_a_number_in_words_are_not_unlike() -> None:
    pair = [instance("a", answer=4), instance("b", answer="four of them")]
    a, b = (digest_of(item) for item in parse_instances(pair, source="f"))
    assert not unlike(a, b)


def test_the_acceptance_of_controls() -> None:
    verdicts = {"known_wrong": ["no", "yes", None], "reference": ["yes", "yes"]}
    lines = [{"control": k, "verdict": v} for k, given in verdicts.items() for v in given]
    table = controls_table(lines)
    assert table is not None
    assert list(table) == ["reference", "known_wrong"]
    wrong = table["known_wrong"]
    assert (wrong["value"], wrong["n"], wrong["unscored"]) == (0.5, 2, 1)
    assert controls_table([]) is None


def test_two_judges_crossed() -> None:
    first = {
        k: {"verdict": v} for k, v in zip("abcde", ["yes", "yes", "no", "no", None], strict=True)
    }
    second = {
        k: {"verdict": v} for k, v in zip("abcde", ["yes", "no", "no", "yes", "no"], strict=True)
    }
    table = second_judge_table({"id": "s", "hash": "h"}, first, second)
    assert table is not None
    assert (table["n"], table["agreement"]["value"]) == (4, 0.5)
    assert (table["only_first_passes"], table["only_second_passes"]) == (["b"], ["d"])
    assert second_judge_table(None, first, second) is None


def test_a_run_judged_by_a_model_with_controls_and_a_second_judge(
    harness: Harness, model: ScriptedJudge, files: tuple[object, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    chosen = ("--judge", model.spec, "--second-judge", "lexical", "--controls", 3)
    assert harness(*files, "--out", out, *chosen).code == 0
    report, manifest = read(out, "report.json"), read(out, "manifest.json")
    accuracy = report["accuracy"]
    assert accuracy["judge"] == "longmemeval-1=examiner"
    assert accuracy["overall"]["value"] == pytest.approx(1 / 7)
    assert accuracy["second_judge"]["judge"] == LexicalJudge.id
    assert accuracy["second_judge"]["only_second_passes"] == [
        *(f"q{i}" for i in range(1, 6)),
        "q9_abs",
    ]
    assert set(accuracy["controls"]) == {
        "reference",
        "known_wrong",
        "swapped",
        "empty",
        "dont_know",
    }
    assert manifest["judge"]["base_url"] == model.url
    assert set(manifest["judge"]["prompts"]) == {
        "contain", "temporal", "update", "preference", "abstention"
    }  # fmt: skip
    assert report["tokens"]["judge"]["calls"] == len(model.sent)
    assert report["cost"]["judge_usd"] is None
    for line in read(out, "verdicts.jsonl"):
        assert line["prompt_hash"] == manifest["judge"]["prompts"][line["prompt"]]
    page, markdown = (out / "report.html").read_text(), (out / "report.md").read_text()
    for text in (page, markdown):
        assert "What the judge lets pass, %" in text
        assert "answers known to be wrong the judge passes" in text
        assert "A second judge, %" in text


def test_the_lexical_judge_passes_references_and_no_control(
    harness: Harness, files: tuple[object, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert harness(*files, "--out", out).code == 0
    accuracy = read(out, "report.json")["accuracy"]
    assert accuracy["overall"]["value"] == 1
    passed = {kind: cell["value"] for kind, cell in accuracy["controls"].items()}
    assert passed == {"reference": 1, "known_wrong": 0, "swapped": 0, "empty": 0, "dont_know": 0}
    assert harness(*files, "--out", out, "--controls", 0).code == 0
    assert read(out, "report.json")["accuracy"]["controls"] is None


def test_judging_goes_on_where_the_server_was_lost(
    harness: Harness, model: ScriptedJudge, files: tuple[object, ...], tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    chosen = ("--judge", model.spec, "--controls", 3, "--judge-concurrency", 1)
    assert harness(*files, "--out", whole, *chosen).code == 0
    needed = len(model.sent)
    model.sent = []

    def dies(text: str) -> str:
        if len(model.sent) == 5:
            model.faults = [Fault(401)]
        return "yes" if "turquoise" in text.lower() else "no"

    model.says = dies
    ended = harness(*files, "--out", broken, *chosen)
    assert ended.code == 2
    assert "run the same command again" in ended.err
    model.says = lambda text: "yes" if "turquoise" in text.lower() else "no"
    assert harness(*files, "--out", broken, *chosen).code == 0
    assert len(model.sent) == needed + 1
    for name in ("verdicts.jsonl", "controls.jsonl"):
        assert read(broken, name) == read(whole, name)


def test_a_verdict_that_failed_is_tried_again_and_an_unreadable_one_is_not(
    harness: Harness, model: ScriptedJudge, files: tuple[object, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    chosen = ("--out", out, "--judge", model.spec, "--controls", 0, "--judge-concurrency", 1)
    model.says = lambda _: "perhaps"
    model.faults = [Fault(400, "content filter")]
    assert harness(*files, *chosen).code == 0
    assert read(out, "report.json")["unscored"] == 7
    model.sent, model.says = [], lambda _: "yes"
    assert harness(*files, *chosen).code == 0
    assert len(model.sent) == 1
    assert read(out, "report.json")["unscored"] == 6


def test_a_shared_cache_saves_the_calls_of_another_run(
    harness: Harness, model: ScriptedJudge, files: tuple[object, ...], tmp_path: Path
) -> None:
    cache = ("--judge", model.spec, "--judge-cache", tmp_path / "cache")
    assert harness(*files, "--out", tmp_path / "one", *cache).code == 0
    model.sent = []
    assert harness(*files, "--out", tmp_path / "two", *cache).code == 0
    assert model.sent == []
    assert read(tmp_path / "one", "verdicts.jsonl") == read(tmp_path / "two", "verdicts.jsonl")
