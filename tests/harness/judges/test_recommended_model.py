"""A judge that its benchmark does not recommend: who is asked, and what is said of it later."""

import io
import json
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from benches import Bench, Finished
from scripted_judge import ScriptedJudge

from harness.judges.rubrics import RUBRICS

Harness = Callable[..., Finished]
CAUTION = "locomo-refined is meant to be judged by Qwen3-14B, not by examiner"


class Terminal(io.StringIO):
    """What somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def model(model: ScriptedJudge) -> ScriptedJudge:
    model.says = lambda _: '{"label": "CORRECT"}'
    return model


@pytest.fixture
def command(tmp_path: Path) -> tuple[object, ...]:
    question = {
        "qa_id": "conv-7#q0000",
        "sample_id": "conv-7",
        "question": "What is Tom's dog called?",
        "answer": ["Biscuit"],
        "category": "4",
    }
    (tmp_path / "questions.jsonl").write_text(json.dumps(question))
    said = {"qa_id": "conv-7#q0000", "predicted_answer": "It is Biscuit"}
    (tmp_path / "said.jsonl").write_text(json.dumps(said))
    return (
        *("judge", "--dataset", "locomo-refined", "--file", tmp_path / "questions.jsonl"),
        *("--hypotheses", tmp_path / "said.jsonl", "--out", tmp_path / "run", "--controls", 0),
    )


@pytest.mark.parametrize(
    "name",
    ["qwen3-14b", "qwen3_14b", "Qwen/Qwen3-14B", "qwen/qwen3-14b", "dashscope/qwen3-14b"],
)
def test_every_name_of_the_recommended_model_passes(name: str) -> None:
    for rubric in ("locomo-refined", "locomo-refined-original"):
        assert RUBRICS[rubric].caution(name) is None
        assert RUBRICS[rubric].caution("qwen3-32b") is not None
    assert all(RUBRICS[name].caution("any") is None for name in ("longmemeval", "locomo", "strict"))


def test_the_original_rubric_is_meant_for_the_model_it_was_published_with() -> None:
    original = RUBRICS["locomo-refined-original"]
    assert original.caution("openai/gpt-4o-mini") is None
    assert original.caution("gpt-4o-mini-2024-07-18") is None
    assert original.caution("gpt-4o-2024-08-06") == (
        "locomo-refined-original is meant to be judged by GPT-4o-mini or Qwen3-14B, not by "
        "gpt-4o-2024-08-06"
    )
    assert RUBRICS["locomo-refined"].caution("gpt-4o-mini") is not None


def test_the_refined_rubric_forbids_what_the_reference_does_not_support() -> None:
    rubric = RUBRICS["locomo-refined"]
    text = (files("harness.judges") / "prompts" / "refined.md").read_text()
    assert rubric.edition == "2"
    assert "claims nothing beyond it" in text
    assert "More detail does no harm" not in text


def test_the_recommended_model_is_judged_with_at_once(
    harness: Harness, model: ScriptedJudge, command: tuple[object, ...], tmp_path: Path
) -> None:
    assert harness(*command, "--judge", f"locomo-refined=Qwen/Qwen3-14B@{model.url}").code == 0
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert "caution" not in manifest["judge"]


@pytest.mark.parametrize("place", ["--judge", "--second-judge"])
def test_where_nobody_can_be_asked_nothing_is_judged(
    harness: Harness,
    model: ScriptedJudge,
    command: tuple[object, ...],
    tmp_path: Path,
    place: str,
) -> None:
    ended = harness(*command, place, f"locomo-refined=examiner@{model.url}")
    assert (ended.code, f"{CAUTION};" in ended.err) == (2, True), ended.err
    assert "Nobody can be asked here: --judge-anyway says yes beforehand" in ended.err
    assert model.sent == []
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("typed", "code", "asked"), [("y\n", 0, 1), ("n\n", 2, 0), ("", 2, 0)])
def test_a_person_at_a_terminal_is_asked(
    harness: Harness,
    model: ScriptedJudge,
    command: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    code: int,
    asked: int,
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    ended = harness(*command, "--judge", f"locomo-refined=examiner@{model.url}")
    assert ended.code == code, ended.err
    assert "Judge with it all the same? [y/N]" in ended.err
    assert ("harness: nothing was judged" in ended.err) == (code == 2)
    assert len(model.sent) == asked


def test_a_yes_beforehand_is_kept_and_told(
    harness: Harness, model: ScriptedJudge, command: tuple[object, ...], tmp_path: Path
) -> None:
    chosen = ("--judge", f"locomo-refined=examiner@{model.url}", "--judge-anyway")
    assert harness(*command, *chosen).code == 0
    out = tmp_path / "run"
    assert json.loads((out / "manifest.json").read_text())["judge"]["caution"] == CAUTION
    assert json.loads((out / "report.json").read_text())["accuracy"]["judge_caution"] == CAUTION
    assert CAUTION in (out / "report.md").read_text()


def test_a_dry_run_and_a_run_ask_alike(
    harness: Harness, model: ScriptedJudge, command: tuple[object, ...], bench: Bench
) -> None:
    judge: tuple[Any, ...] = ("--judge", f"locomo-refined=examiner@{model.url}")
    assert harness(*command, *judge, "--dry-run").code == 0
    run = ("run", "--dataset", "sample", "--assistant", bench.assistant.url, "--out", bench.out)
    ended = harness(*run, *judge)
    assert (ended.code, CAUTION in ended.err) == (2, True)
    assert bench.assistant.memory.users == {}
