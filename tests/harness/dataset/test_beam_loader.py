"""BEAM chats: both layouts, days, evidence by message, and what is refused."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from beaming import chat_of_two_batches, message, probing, record

from harness.datasets.beam_chats import questions_of
from harness.datasets.questions import BEAM_ABILITIES, Question, digest_of
from harness.datasets.registry import open_dataset
from harness.errors import DatasetError
from harness.records.digest import QuestionDigest

REAL = Path(__file__).parents[4] / "shared" / "data" / "beam_100k_dev10.json.xz"


def questions(**changes: Any) -> dict[str, Question]:
    found = questions_of(record(**changes), "f")
    return {question.question_type: question for question in found}


def written(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def batch(*turns: dict[str, Any], number: int = 1) -> dict[str, Any]:
    return {"batch_number": number, "turns": [list(turns)]}


def test_a_batch_is_a_session_and_another_day_in_it_begins_one() -> None:
    sessions = questions()["summarization"].sessions
    assert [(s.session_id, s.session_date, len(s.turns)) for s in sessions] == [
        ("batch_1", datetime(2024, 4, 9, 9, tzinfo=UTC), 4),
        ("batch_2", datetime(2024, 5, 2, 9, tzinfo=UTC), 2),
        ("batch_2_2", datetime(2024, 5, 5, 9, tzinfo=UTC), 2),
    ]
    assert [session.position for session in sessions] == [0, 1, 2]


def test_plan_references_are_cut_off_and_arrows_stay() -> None:
    said = [t.content for s in questions()["abstention"].sessions for t in s.turns]
    assert said == [
        "I keep four beehives behind the mill.",
        "Four hives need a level stand.",
        "Always answer me with metric units.",
        "I will.",
        "I bought a fifth hive.",
        "Then you have five.",
        "The honey is spun.",
        "a ->-> b is an arrow, not a reference",
    ]


def test_questions_are_asked_just_after_the_last_message_and_share_the_chat() -> None:
    found = questions().values()
    assert {q.question_date for q in found} == {datetime(2024, 5, 5, 9, 0, 2, tzinfo=UTC)}
    assert {q.history_id for q in found} == {"100K-1"}
    assert [q.question_id for q in found][:2] == ["100K-1#abstention-0", "100K-1#event_ordering-0"]


@pytest.mark.parametrize(
    ("ability", "rounds", "turns", "named"),
    [
        ("abstention", (), (), ()),
        ("event_ordering", ("0:0", "1:0", "2:0"), ("0", "4", "6"), ("0", "4", "6")),
        ("instruction_following", ("0:1",), ("2",), ("2",)),
        ("knowledge_update", ("0:0", "1:0"), ("0", "4"), ("0", "4", "99")),
        ("summarization", ("0:0", "2:0"), ("0", "1", "6"), ("0", "1", "6")),
    ],
)
def test_evidence_is_the_messages_that_exist(
    ability: str, rounds: tuple[str, ...], turns: tuple[str, ...], named: tuple[str, ...]
) -> None:
    digest = digest_of(questions()[ability])
    assert digest.evidence_rounds == rounds
    assert (digest.evidence_turn_ids, digest.evidence_ids) == (turns, named)
    assert digest.is_abstention == (ability == "abstention")


def test_the_rubric_is_kept_with_the_question() -> None:
    digest = digest_of(questions()["summarization"])
    assert len(digest.rubric) == 2
    assert QuestionDigest.from_json(json.loads(json.dumps(digest.to_json()))) == digest


def test_a_batch_without_a_day_has_the_day_before_it_a_pause_later() -> None:
    first = batch(message(0, "user", "a", time_anchor="2024-04-09"), message(1, "assistant", "b"))
    later = batch(message(2, "user", "c"), number=2)
    asked = {"summarization": [probing()["summarization"][0] | {"source_chat_ids": [2]}]}
    found = questions(chat=[first, later], probing_questions=asked)["summarization"]
    assert [s.session_date for s in found.sessions] == [
        datetime(2024, 4, 9, 9, tzinfo=UTC),
        datetime(2024, 4, 9, 9, 1, 2, tzinfo=UTC),
    ]
    early = questions(chat=[batch(message(0, "user", "a")), first], probing_questions=asked)
    assert {s.session_date.date().day for s in early["summarization"].sessions} == {9}


def test_plans_of_the_largest_chats_hold_batches() -> None:
    one, two = chat_of_two_batches()
    chat = [{"plan-1": [one]}, {"plan-2": [two]}]
    found = questions(chat=chat)["event_ordering"]
    assert [s.session_id for s in found.sessions] == [
        "plan-1_batch_1",
        "plan-2_batch_2",
        "plan-2_batch_2_2",
    ]
    assert digest_of(found).evidence_rounds == ("0:0", "1:0", "2:0")


def test_an_id_of_several_messages_names_none_of_them() -> None:
    one, _ = chat_of_two_batches()
    found = questions(chat=[{"plan-1": [one]}, {"plan-2": [one]}])["event_ordering"]
    assert digest_of(found).evidence_rounds == ()
    assert found.evidence_ids == ("0", "4", "6")


def test_the_questions_of_a_row_of_the_hub_are_the_text_of_a_literal() -> None:
    row = record(probing_questions=repr(probing()))
    row["conversation_id"] = row.pop("chat_id")
    assert next(q.question_id for q in questions_of(row, "f")) == "100K-1#abstention-0"


def folder_of(tmp_path: Path, *names: str, chat: str = "chat.json") -> Path:
    for name in names:
        written(tmp_path / name / chat, chat_of_two_batches())
        written(tmp_path / name / "probing_questions" / "probing_questions.json", probing())
    return tmp_path


def test_a_list_and_a_folder_hold_the_same_questions(tmp_path: Path) -> None:
    listed = open_dataset("beam", written(tmp_path / "chats.json", [record(1), record(2)]))
    folder = open_dataset("beam", folder_of(tmp_path / "chats", "100K/2", "100K/1"))
    assert folder.outlines == listed.outlines
    assert folder.early_sha256() != listed.early_sha256()
    wanted = {"100K-2#abstention-0", "100K-2#summarization-0"}
    for dataset in (listed, folder):
        assert [q.question_id for q in dataset.read(wanted)] == sorted(wanted)
        assert [len(history) for history in dataset.histories(wanted)] == [2]


def test_folders_go_by_size_and_number_and_plans_inside_a_chat_are_none(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "10M/1", "100K/10", "100K/9")
    written(folder / "10M" / "1" / "plan-0" / "chat.json", chat_of_two_batches())
    found = dict.fromkeys(q.history_id for q in open_dataset("beam", folder).outlines)
    assert list(found) == ["100K-9", "100K-10", "10M-1"]
    alone = open_dataset("beam", folder / "100K" / "9")
    assert alone.outlines[0].history_id == "100K-9"


def test_a_shortened_chat_is_read_in_place_of_the_whole_one(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "100K/1")
    before = open_dataset("beam", folder)
    written(folder / "100K" / "1" / "chat_trunecated.json", chat_of_two_batches()[:1])
    after = open_dataset("beam", folder)
    (question,) = after.read({"100K-1#summarization-0"})
    assert len(question.sessions) == 1
    assert before.early_sha256() != after.early_sha256()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"chat": {}}, r"100K-1\): chat: expected a list, found dict"),
        ({"chat": ["x"]}, "batch 1: expected an object"),
        ({"chat": [{"batch_number": 1}]}, "expected a list, found int"),
        ({"chat": [batch(message(0, "user", "a"))]}, "no message says its day"),
        (
            {"chat": [batch(message(0, "user", "a", time_anchor="soon"))]},
            "batch_1: time_anchor: expected a day like March-15-2024, found 'soon'",
        ),
        (
            {"chat": [batch(message(0, "user", "a", time_anchor="June-31-2024"))]},
            "found 'June-31-2024'",
        ),
        ({"chat": [batch(message(0, "tool", "a"))]}, "role: expected user or assistant"),
        ({"chat": [{"turns": [["a"]]}]}, "expected a message object, found 'a'"),
        ({"probing_questions": []}, "expected an object by ability"),
        ({"probing_questions": "{"}, "probing_questions cannot be read"),
        ({"probing_questions": {"riddles": []}}, "unknown ability 'riddles'"),
        ({"probing_questions": {"abstention": ["?"]}}, "abstention-0: expected a question object"),
        (
            {"probing_questions": {"abstention": [{"question": "?", "rubric": []}]}},
            "rubric: an empty list",
        ),
        (
            {"probing_questions": {"abstention": [{"question": "?", "rubric": ["x"]}]}},
            "answer: expected text",
        ),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DatasetError, match=complaint):
        questions(**changes)


def test_files_that_hold_no_chats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds no chats"):
        open_dataset("beam", tmp_path)
    with pytest.raises(DatasetError, match="chat 100K-1 occurs twice"):
        open_dataset("beam", written(tmp_path / "chats.json", [record(), record()]))
    folder = folder_of(tmp_path, "1")
    (folder / "1" / "chat.json").write_text("{half")
    with pytest.raises(DatasetError, match=r"1/chat\.json: not JSON"):
        open_dataset("beam", folder)


@pytest.mark.real_data
def test_the_development_chats() -> None:
    if not REAL.exists():
        pytest.skip("the development data is not there")
    dataset = open_dataset("beam", REAL)
    assert Counter(q.question_type for q in dataset.outlines) == dict.fromkeys(BEAM_ABILITIES, 20)
    histories = list(dataset.histories({q.question_id for q in dataset.outlines}))
    assert [len(history[0].sessions) for history in histories] == [3] * 5 + [5] * 5
    turns = [t for history in histories for s in history[0].sessions for t in s.turns]
    assert len(turns) == 2432
    assert not [t for t in turns if t.content.rstrip(" )0123456789,NA/").endswith("->->")]
    unlabelled = [q for q in dataset.outlines if not q.evidence_rounds and not q.is_abstention]
    assert [len(q.evidence_ids) for q in unlabelled] == [0]
    assert all(
        q.evidence_ids == q.evidence_turn_ids or set(q.evidence_ids) == set(q.evidence_turn_ids)
        for q in dataset.outlines
    )
