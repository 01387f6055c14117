"""The sheet on which a person decides, driven by what is typed, and what is written after it."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from benches import Finished

from harness.datasets.longmemeval import load_longmemeval

Harness = Callable[..., Finished]


def make(harness: Harness, out: Path, *more: object) -> Finished:
    given = ("--per-type", 1, "--sessions", 6, "--types", "single-session-user,multi-session")
    return harness("author", "--template", "--out", out, *given, *more)


def typed(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{one}\n" for one in answers)))


def test_rejected_questions_are_left_out_and_edited_ones_changed(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(harness, tmp_path)
    typed(monkeypatch, "r", "e", "How many of them, all in all?", "")
    ended = harness("author", "review", tmp_path)
    assert ended.code == 0, ended.err
    assert "2 decided, 0 left" in ended.out
    before = {line["item"]: line for line in _lines(tmp_path / "questions.jsonl")}
    assert make(harness, tmp_path).code == 0
    (left,) = load_longmemeval(tmp_path / "questions.json")
    assert left.question == "How many of them, all in all?"
    assert left.answer == before[left.question_id]["answer"]


def test_the_sheet_shows_question_answer_evidence_and_checks(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(harness, tmp_path)
    typed(monkeypatch, "q")
    shown = harness("author", "review", tmp_path).out
    (first, *_), (told, *_) = (
        _lines(tmp_path / f"{name}.jsonl") for name in ("questions", "evidence")
    )
    for text in (first["question"], first["answer"], told["evidence"][0]["statement"], "passed"):
        assert text in shown


def test_what_is_left_for_later_is_asked_again_and_what_is_decided_is_not(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(harness, tmp_path)
    typed(monkeypatch, "l", "what?", "a")
    ended = harness("author", "review", tmp_path)
    assert "'what?' is none of these" in ended.out
    assert "1 decided, 1 left" in ended.out
    typed(monkeypatch)  # the end of the input
    again = harness("author", "review", tmp_path)
    assert "1 of 1: single-session-user" in again.out
    assert "0 decided, 1 left" in again.out


def test_only_accepted_questions_are_written_where_that_is_asked_for(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(harness, tmp_path)
    none = make(harness, tmp_path, "--only-accepted")
    assert none.code == 2
    assert "no question passed its checks or was accepted" in none.err
    typed(monkeypatch, "l", "a")
    harness("author", "review", tmp_path)
    assert make(harness, tmp_path, "--only-accepted").code == 0
    (left,) = load_longmemeval(tmp_path / "questions.json")
    assert left.question_type == "multi-session"


def test_a_folder_without_questions_is_refused(harness: Harness, tmp_path: Path) -> None:
    ended = harness("author", "review", tmp_path)
    assert ended.code == 2
    assert "holds no questions" in ended.err


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_review_that_decides_nothing_is_refused(harness: Harness, tmp_path: Path) -> None:
    make(harness, tmp_path)
    first, *_ = _lines(tmp_path / "questions.jsonl")
    (tmp_path / "reviews.jsonl").write_text(json.dumps({"item": first["item"]}) + "\n")
    ended = make(harness, tmp_path)
    assert (ended.code, "expected decision (accept, edit, reject)" in ended.err) == (2, True)
