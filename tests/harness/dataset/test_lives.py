"""The built-in lives can be trusted as a benchmark: labels lead somewhere, time runs forward."""

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.encoder import examples
from harness.datasets.lives import LIVES, LONG_LIVES, read_lives
from harness.datasets.questions import LONGMEMEVAL_TYPES, evidence_rounds
from harness.datasets.registry import open_dataset
from harness.errors import DatasetError

FOLDERS = (examples.LIVES, LIVES, LONG_LIVES)


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_question_is_asked_after_its_history_and_its_evidence_is_there(folder: Path) -> None:
    questions = read_lives(folder)
    assert questions
    for one in questions:
        dates = [session.session_date for session in one.sessions]
        assert dates == sorted(set(dates)), one.question_id
        assert one.question_date > dates[-1], one.question_id
        assert one.question_type in LONGMEMEVAL_TYPES
        assert bool(evidence_rounds(one)) == (not one.is_abstention), one.question_id
        ids = {one.sessions[position].session_id for position, _ in evidence_rounds(one)}
        assert ids == set(one.evidence_session_ids)


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_reply_is_said_twice_in_a_life(folder: Path) -> None:
    first = {one.history_id: one for one in reversed(read_lives(folder))}
    for life in first.values():
        said = Counter(
            turn.content
            for session in life.sessions
            for turn in session.turns
            if turn.role == "assistant"
        )
        assert said.most_common(1)[0][1] == 1, life.history_id


def test_nobody_is_both_taught_and_judged() -> None:
    taught, *judged = ({q.sessions[0].turns for q in read_lives(one)} for one in FOLDERS)
    assert not taught & set().union(*judged)


@pytest.mark.parametrize("name", ["lives", "long-lives"])
def test_they_are_a_data_set_whose_questions_share_their_history(name: str) -> None:
    lives = open_dataset(name, None)
    assert len({one.history_id for one in lives.outlines}) * 20 < len(lives.outlines)
    (first, *_) = lives.histories([one.question_id for one in lives.outlines])
    assert len({one.history_id for one in first}) == 1


def test_a_folder_in_the_same_layout_is_read_and_a_wrong_label_named(tmp_path: Path) -> None:
    session = {"date": "2025-01-02 08:00", "rounds": [["i feed the cat", "Good."]]}
    asked = {"type": "single-session-user", "q": "who?", "a": "a cat", "date": "2025-02-01 08:00"}
    (tmp_path / "ann.jsonl").write_text(json.dumps(session) + "\n")
    questions = tmp_path / "ann.questions.jsonl"
    questions.write_text(json.dumps(asked | {"evidence": ["1.1"]}) + "\n")
    (one,) = open_dataset("lives", tmp_path).outlines
    assert one.question_id == "ann-q1"
    questions.write_text(json.dumps(asked | {"evidence": ["1.2"]}) + "\n")
    with pytest.raises(DatasetError, match=r"question 1: there is no round 1\.2"):
        open_dataset("lives", tmp_path)
