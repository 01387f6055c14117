"""The LongMemEval loader: odd but legal instances, and illegal ones."""

from datetime import UTC, datetime
from typing import Any

import pytest
from histories import chat, history, instance, turn

from harness.datasets.longmemeval import parse_instances
from harness.datasets.questions import Question, evidence_rounds, rounds_of
from harness.errors import DatasetError


def load(record: dict[str, Any]) -> Question:
    return parse_instances([record], source="file.json")[0]


def test_an_ordinary_instance() -> None:
    question = load(instance())
    assert question.question_date == datetime(2023, 5, 30, 10, 0, tzinfo=UTC)
    assert question.evidence_session_ids == ("answer_ab12_1",)
    assert not question.is_abstention
    assert [s.session_id for s in question.sessions] == ["answer_ab12_1", "ffee_2"]
    assert evidence_rounds(question) == [(0, 0)]


def test_a_number_as_answer_becomes_text_and_is_remembered() -> None:
    question = load(instance(answer=15))
    assert (question.answer, question.answer_is_number) == ("15", True)


@pytest.mark.parametrize(
    ("question_id", "expected"), [("a_abs", True), ("a_abs_1", False), ("abs", False)]
)
def test_only_the_end_of_the_id_marks_abstention(question_id: str, expected: bool) -> None:
    assert load(instance(question_id)).is_abstention is expected


def test_sessions_are_ordered_by_minute_and_ties_keep_file_order() -> None:
    question = load(
        instance(
            **history(
                ("c", "2023/05/20 (Sat) 09:00", chat("c")),
                ("b", "2023/05/20 (Sat) 08:00", chat("b")),
                ("d", "2023/05/20 (Sat) 09:00", chat("d")),
                ("a", "2023/05/19 (Fri) 23:59", chat("a")),
            )
        )
    )
    assert [s.session_id for s in question.sessions_by_date()] == ["a", "b", "c", "d"]
    assert [s.session_id for s in question.sessions] == ["c", "b", "d", "a"]


def test_the_same_session_twice_keeps_both_places() -> None:
    filler = chat("again")
    question = load(
        instance(
            **history(
                ("ffee_1", "2023/05/20 (Sat) 09:00", filler),
                ("ffee_1", "2023/05/22 (Mon) 09:00", filler),
            )
        )
    )
    assert [(s.position, s.session_id) for s in question.sessions] == [(0, "ffee_1"), (1, "ffee_1")]


def test_empty_sessions_and_missing_or_null_labels_are_fine() -> None:
    unlabelled = [{"role": "user", "content": "hi", "has_answer": None}]
    question = load(
        instance(
            **history(
                ("a", "2023/05/20 (Sat) 09:00", []),
                ("b", "2023/05/20 (Sat) 09:00", unlabelled),
            )
        )
    )
    assert question.sessions[0].turns == ()
    assert question.sessions[1].turns[0].has_answer is False


def test_half_an_emoji_is_made_sendable() -> None:
    cut = history(("a", "2023/05/20 (Sat) 09:00", chat("Nice \ud83d ünd 🎉")))
    assert load(instance(**cut)).sessions[0].turns[0].content == "Nice ? ünd 🎉"


def test_a_session_later_than_the_question_is_kept() -> None:
    late = history(("a", "2023/05/30 (Tue) 23:00", chat("late", has_answer=True)), evidence=["a"])
    assert len(load(instance(**late)).sessions) == 1


@pytest.mark.parametrize(
    ("roles", "rounds"),
    [
        ("", []),
        ("ua", [(0, 1)]),
        ("uaua", [(0, 1), (2, 3)]),
        ("aua", [(0,), (1, 2)]),
        ("aaua", [(0, 1), (2, 3)]),
        ("uua", [(0,), (1, 2)]),
        ("uaa", [(0, 1, 2)]),
        ("uau", [(0, 1), (2,)]),
    ],
)
def test_rounds_are_formed_by_role(roles: str, rounds: list[tuple[int, ...]]) -> None:
    names = {"u": "user", "a": "assistant"}
    turns = [turn(names[role], f"turn {i}") for i, role in enumerate(roles)]
    session = load(instance(**history(("s", "2023/05/20 (Sat) 09:00", turns)))).sessions[0]
    assert [round_.turns for round_ in rounds_of(session.turns)] == rounds


def test_a_label_on_the_assistants_side_marks_its_round() -> None:
    turns = [*chat("one"), turn("user", "two"), turn("assistant", "it is this", has_answer=True)]
    question = load(instance(**history(("s", "2023/05/20 (Sat) 09:00", turns), evidence=["s"])))
    assert evidence_rounds(question) == [(0, 1)]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"question_type": "riddle"}, "question_type: unknown type 'riddle'"),
        ({"question": 5}, "question: expected a string, found int"),
        ({"answer": None}, "answer: expected a string or a number, found NoneType"),
        ({"answer": True}, "answer: expected a string or a number, found bool"),
        ({"question_date": "30 May 2023"}, "question_date: expected YYYY/MM/DD"),
        ({"question_date": "2023/02/30 (Thu) 10:00"}, "question_date: expected"),
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "2 ids, 1 dates, 2 sessions"),
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21", None]}, r"haystack_dates\[1\]"),
        ({"haystack_session_ids": "ab"}, "haystack_session_ids: expected a list, found str"),
        ({"haystack_session_ids": ["a", 2]}, r"haystack_session_ids\[1\]: expected a string"),
        ({"haystack_sessions": [[], "x"]}, r"haystack_sessions\[1\]: expected a list of turns"),
        ({"haystack_sessions": [[], ["x"]]}, r"haystack_sessions\[1\]\[0\]: expected a turn"),
        (
            {"haystack_sessions": [[], [turn("system", "x")]]},
            r"\[1\]\[0\].role: expected user or assistant, found 'system'",
        ),
        ({"haystack_sessions": [[], [{"role": "user"}]]}, r"\[1\]\[0\].content: expected"),
        (
            {"haystack_sessions": [[], [{"role": "user", "content": "", "has_answer": "yes"}]]},
            r"has_answer: expected true or false, found 'yes'",
        ),
        ({"answer_session_ids": ["elsewhere"]}, "answer_session_ids: 'elsewhere' is not in"),
    ],
)
def test_a_bad_field_is_named_with_its_instance(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DatasetError, match=complaint) as error:
        load(instance("q7", **changes))
    assert "file.json: instance 0 ('q7')" in str(error.value)


@pytest.mark.parametrize("field", list(instance()))
def test_a_missing_field_is_named(field: str) -> None:
    record = instance()
    del record[field]
    with pytest.raises(DatasetError, match=f"{field}: missing"):
        load(record)


def test_the_same_question_twice_is_refused() -> None:
    with pytest.raises(DatasetError, match="'q1' occurs twice"):
        parse_instances([instance("q1"), instance("q1")], source="f")


def test_no_question_at_all_is_refused() -> None:
    with pytest.raises(DatasetError, match="no questions"):
        parse_instances([], source="f")
