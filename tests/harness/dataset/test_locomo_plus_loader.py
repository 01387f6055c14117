"""LoCoMo-Plus: cues inside conversations or by themselves, time gaps, and what is refused."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from conversations import sample

from harness.datasets.locomo_plus import days_of_gap
from harness.datasets.questions import LOCOMO_PLUS_RELATIONS, Question, digest_of
from harness.datasets.registry import open_dataset
from harness.errors import DatasetError, UsageError

REAL = Path(__file__).parents[4] / "shared" / "data"


def record(**changes: Any) -> dict[str, Any]:
    return {
        "relation_type": "state",
        "cue_dialogue": "A: My knee has hurt since May.\nB: Spare it.\n  And rest.\nA: I will.",
        "trigger_query": "A: Which tour shall we take?",
        "time_gap": "one week later",
        **changes,
    }


def opened(tmp_path: Path, *records: dict[str, Any], around: Any = None) -> list[Question]:
    file, conversations = tmp_path / "plus.json", None
    file.write_text(json.dumps(list(records)))
    if around is not None:
        conversations = tmp_path / "locomo.json"
        conversations.write_text(json.dumps(around))
    dataset = open_dataset("locomo-plus", file, None, conversations)
    return list(dataset.read({q.question_id for q in dataset.outlines}))


@pytest.mark.parametrize(
    ("gap", "days"),
    [
        ("two weeks later", 14),
        ("about six weeks later", 42),
        ("around one month later", 30),
        ("a year later", 365),
        ("several months later", 150),
        ("a few days later", 3),
        ("10 days later", 10),
        ("a couple of weeks later", 14),
        ("half a year later", 182),
        ("around one week after the long tour", 7),
        ("later", None),
        ("some weeks later", None),
    ],
)
def test_time_gaps(gap: str, days: int | None) -> None:
    assert days_of_gap(gap) == days


def test_by_itself_a_cue_is_what_a_user_told_an_assistant(tmp_path: Path) -> None:
    (question,) = opened(tmp_path, record())
    (cue,) = question.sessions
    assert [(turn.role, turn.content, turn.name) for turn in cue.turns] == [
        ("user", "My knee has hurt since May.", None),
        ("assistant", "Spare it.\nAnd rest.", None),
        ("user", "I will.", None),
    ]
    assert (question.question, question.question_type) == ("Which tour shall we take?", "state")
    assert question.question_date == datetime(2024, 6, 3, 12, tzinfo=UTC)
    assert cue.session_date == datetime(2024, 5, 27, 12, tzinfo=UTC)
    assert digest_of(question).evidence_rounds == ("0:0", "0:1")


def test_inside_a_conversation_it_is_told_by_its_speakers(tmp_path: Path) -> None:
    later = record(time_gap="two weeks later")
    first, second = opened(tmp_path, later, later, around=[sample("a"), sample("b")])
    in_order = [session.session_id for session in first.sessions_by_date()]
    assert in_order == ["session_1", "cue", "session_2"]
    told = first.sessions[-1]
    assert (told.session_id, told.position) == ("cue", 2)
    assert told.session_date == datetime(2023, 5, 27, 0, 5, tzinfo=UTC)
    assert [(turn.role, turn.name) for turn in told.turns] == [
        ("user", "Ines"),
        ("user", "Tom"),
        ("user", "Ines"),
    ]
    assert first.question == "Ines: Which tour shall we take?"
    assert first.answer.startswith("Ines: My knee has hurt since May.\nTom: Spare it.")
    assert digest_of(first).evidence_rounds == ("2:0", "2:2")
    assert first.history_id != second.history_id


def test_a_written_out_line_end_ends_a_line(tmp_path: Path) -> None:
    (question,) = opened(tmp_path, record(cue_dialogue="A: My knee hurts.\\nB: Spare it."))
    assert [turn.content for turn in question.sessions[0].turns] == ["My knee hurts.", "Spare it."]


def test_other_conversations_are_other_data(tmp_path: Path) -> None:
    file, conversations = tmp_path / "plus.json", tmp_path / "locomo.json"
    file.write_text(json.dumps([record()]))
    conversations.write_text(json.dumps([sample()]))
    alone = open_dataset("locomo-plus", file)
    inside = open_dataset("locomo-plus", file, None, conversations)
    assert (alone.file, inside.file) == ("plus.json", "plus.json in locomo.json")
    assert alone.early_sha256() != inside.early_sha256()
    with pytest.raises(UsageError, match="--conversations is for locomo-plus"):
        open_dataset("locomo", conversations, None, conversations)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"relation_type": "mood"}, "record 0: relation_type: expected causal, goal, state, value"),
        ({"time_gap": "later"}, "time_gap: expected one like two weeks later, found 'later'"),
        ({"cue_dialogue": "B: Hello."}, "expected lines that begin with A: or B:"),
        ({"trigger_query": 3}, "trigger_query: expected text, found int"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DatasetError, match=complaint):
        opened(tmp_path, record(**changes))


@pytest.mark.real_data
@pytest.mark.parametrize("around", [None, REAL / "locomo_dev5.json"])
def test_the_development_items(around: Path | None) -> None:
    file = REAL / "locomo_plus_dev.json"
    if not file.exists():
        pytest.skip("the development data is not there")
    dataset = open_dataset("locomo-plus", file, None, around)
    assert len(dataset.outlines) == 215
    assert {q.question_type for q in dataset.outlines} == set(LOCOMO_PLUS_RELATIONS)
    assert {len(q.evidence_rounds) for q in dataset.outlines} == {1}
