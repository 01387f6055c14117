"""Histories made from conversations of named people."""

import json
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from conversations import qa, sample, turn
from scripted_assistant import ScriptedAssistant

from harness.datasets.longmemeval import load_longmemeval


def people(sample_id: str, first: str, second: str, sessions: int = 3) -> dict[str, Any]:
    conversation: dict[str, Any] = {"speaker_a": first, "speaker_b": second}
    for n in range(1, sessions + 1):
        text = f"{first} tells {sample_id} story {n}."
        conversation[f"session_{n}"] = [
            turn(first, f"D{n}:1", text),
            turn(second, f"D{n}:2", "Oh?"),
        ]
        conversation[f"session_{n}_date_time"] = f"1:0{n} pm on {n} May, 2023"
    questions = [qa(f"What of {first}?", 4, [f"D{n}:1"], answer="a story") for n in (1, 2, 3)]
    return sample(sample_id, conversation=conversation, qa=questions)


def compiled(harness: Any, tmp_path: Path, *, sessions: int) -> Path:
    source, out = tmp_path / "locomo.json", tmp_path / "out.json"
    source.write_text(
        json.dumps(
            [
                sample("conv-7"),
                people("conv-1", "Ada", "Ben"),
                people("conv-2", "Tom", "Cleo"),
                people("conv-3", "Dora", "Eve"),
            ]
        )
    )
    ended: Finished = harness(
        *("compile", "--dataset", "locomo", "--file", source, "--out", out),
        *("--sessions", sessions),
    )
    assert ended.code == 0, ended.err
    return out


def test_fillers_come_from_conversations_of_other_people_only(harness: Any, tmp_path: Path) -> None:
    questions = load_longmemeval(compiled(harness, tmp_path, sessions=8))
    assert len(questions) == 14
    for question in questions[:5]:
        assert len(question.sessions) == 8
        others = [s for s in question.sessions if not s.session_id.startswith("conv-7")]
        assert len(others) == 6
        # Tom of the second conversation may be another Tom: his sessions stay out.
        assert {s.session_id.split("_")[0] for s in others} == {"conv-1", "conv-3"}


def test_labels_names_and_abstention_survive(harness: Any, tmp_path: Path) -> None:
    questions = load_longmemeval(compiled(harness, tmp_path, sessions=8))
    multi, adversarial = questions[0], questions[4]
    assert (multi.question_id, multi.question_type) == ("conv-7#q0000", "multi-hop")
    assert multi.evidence_session_ids == ("conv-7_session_1", "conv-7_session_2")
    labelled = [t for s in multi.sessions for t in s.turns if t.has_answer]
    assert [(t.name, t.content) for t in labelled] == [
        ("Ines", "I paint boats, and last week I sold a kayak."),
        ("Tom", "I adopted a greyhound called Biscuit."),
    ]
    assert (adversarial.question_id, adversarial.is_abstention) == ("conv-7#q0004_abs", True)


def test_the_result_is_replayed_and_scored_like_locomo(
    harness: Any, tmp_path: Path, assistant: ScriptedAssistant
) -> None:
    out = compiled(harness, tmp_path, sessions=8)
    ended = harness(
        *("run", "--dataset", "longmemeval", "--file", out, "--assistant", assistant.url),
        *("--out", tmp_path / "run", "--limit", 5),
    )
    assert ended.code == 0, ended.err
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["official_metrics"]["metric"] == "locomo"
    assert report["accuracy"]["official"] is None


@pytest.mark.parametrize("dataset", ["beam", "personamem", "msc"])
def test_what_longmemevals_format_cannot_hold_is_refused(
    harness: Any, tmp_path: Path, dataset: str
) -> None:
    (tmp_path / "data.json").write_text("[]")
    ended = harness(
        *("compile", "--dataset", dataset, "--file", tmp_path / "data.json"),
        *("--sessions", 5, "--out", tmp_path / "out.json"),
    )
    assert ended.code == 2
    assert f"{dataset} has no place" in ended.err
