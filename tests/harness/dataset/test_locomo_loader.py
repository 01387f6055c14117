"""LoCoMo and LoCoMo-Refined files: layout, oddities, corrected golds, and what is refused."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from conversations import qa, sample

from harness.datasets.locomo import NOT_MENTIONED, parse_date, parse_locomo, turn_ids
from harness.datasets.questions import LOCOMO_CATEGORIES, Question, digest_of
from harness.datasets.registry import open_dataset
from harness.errors import DatasetError, UsageError
from harness.records.digest import QuestionDigest

REAL = Path(__file__).parents[4] / "shared" / "data" / "locomo_dev5.json"


def questions(*samples: dict[str, Any]) -> list[Question]:
    return parse_locomo(samples or [sample()], source="f")


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_category_numbers_do_not_follow_the_papers_order() -> None:
    assert LOCOMO_CATEGORIES == {
        1: "multi-hop",
        2: "temporal",
        3: "open-domain",
        4: "single-hop",
        5: "adversarial",
    }
    assert [q.question_type for q in questions()] == list(LOCOMO_CATEGORIES.values())


def test_sessions_are_those_that_are_there_in_the_order_of_their_numbers() -> None:
    sessions = questions()[0].sessions
    assert [session.session_id for session in sessions] == ["session_1", "session_2"]
    assert [session.position for session in sessions] == [0, 1]
    assert sessions[0].session_date == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert sessions[1].session_date == datetime(2023, 6, 3, 0, 5, tzinfo=UTC)


def test_both_speakers_are_users_with_names_and_pictures_are_told_by_their_captions() -> None:
    turns = questions()[0].sessions[1].turns
    assert [(turn.role, turn.name, turn.turn_id) for turn in turns] == [
        ("user", "Tom", "D2:1"),
        ("user", "Ines", "D2:2"),
    ]
    assert turns[1].content == "How lovely! [shares a picture: a dog on a sofa]"
    assert "greyhound" not in turns[1].content


def test_the_questions_of_a_conversation_share_its_history_and_are_asked_at_its_end() -> None:
    loaded = questions()
    assert {q.history_id for q in loaded} == {"conv-7"}
    assert {q.question_date for q in loaded} == {datetime(2023, 6, 3, 0, 5, 2, tzinfo=UTC)}
    assert [q.question_id for q in loaded][:2] == ["conv-7#q0000", "conv-7#q0001"]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D1:1 D2:2 D3:3"], ["D1:1", "D2:2", "D3:3"]),
        (["D"], []),
        (["D:11:26"], ["D11:26"]),
        (["D30:05"], ["D30:5"]),
        (["D1:1", "D1:1"], ["D1:1"]),
        ([], []),
    ],
)
def test_evidence_is_read_in_every_notation(evidence: list[str], expected: list[str]) -> None:
    assert turn_ids(evidence) == expected


def test_evidence_that_exists_labels_turns_and_the_raw_ids_stay() -> None:
    multi, temporal, opinion, single, adversarial = questions()
    assert multi.evidence_session_ids == ("session_1", "session_2")
    assert digest_of(multi).evidence_turn_ids == ("D1:1", "D2:1")
    assert digest_of(temporal).evidence_rounds == ("0:0",)
    assert digest_of(opinion).evidence_rounds == ()
    assert digest_of(single).evidence_rounds == ("1:0",)
    assert single.evidence_ids == ("D:2:1", "D", "D9:4")
    assert adversarial.evidence_session_ids == ("session_2",)


def test_an_adversarial_question_has_no_answer_but_a_trap() -> None:
    adversarial = questions()[4]
    assert (adversarial.is_abstention, adversarial.answer) == (True, NOT_MENTIONED)
    assert adversarial.trap == "Biscuit"
    assert not any(q.is_abstention for q in questions()[:4])


def test_numbers_become_text_and_lists_are_alternatives() -> None:
    assert (questions()[1].answer, questions()[1].answer_is_number) == ("2023", True)
    listed = sample(qa=[qa("?", 4, [], answer=["Biscuit", "the greyhound"])])
    digest = digest_of(questions(listed)[0])
    assert digest.answers == ("Biscuit", "the greyhound")
    assert QuestionDigest.from_json(json.loads(json.dumps(digest.to_json()))) == digest


def test_an_older_release_has_the_conversation_at_the_top() -> None:
    record = sample()
    flat = record.pop("conversation") | record
    assert [q.question for q in questions(flat)] == [q.question for q in questions()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12:05 am on 3 June, 2023", (2023, 6, 3, 0, 5)),
        ("12:00 pm on 29 February, 2024", (2024, 2, 29, 12, 0)),
        ("6:55 PM on 20 October, 2023", (2023, 10, 20, 18, 55)),
    ],
)
def test_dates(text: str, expected: tuple[int, ...]) -> None:
    year, month, day, hour, minute = expected
    assert parse_date(text, "f") == datetime(year, month, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        (sample(qa=[qa("?", 6, [], answer="x")]), r"category: expected 1 to 5, found 6"),
        (sample(qa=[qa("?", 4, [])]), r"'conv-7#q0000'\): answer: expected text"),
        (sample(qa=[qa("?", 4, [], answer=[])]), "answer: an empty list"),
        (sample(qa=["?"]), "expected a question object"),
        (sample(qa=None), "qa: expected a list"),
        (sample(conversation={}), "holds no sessions"),
        (sample(conversation=[]), "conversation: expected an object, found list"),
        (sample(sample_id=["x"], qa=None), "sample 0: qa: expected a list"),
        (sample(conversation={"session_1": []}), r"session_1_date_time: expected a date"),
        (
            sample(conversation={"session_1": [{"speaker": "A"}], "session_1_date_time": "x"}),
            "session_1: dia_id: expected text",
        ),
    ],
)
def test_what_is_wrong_is_named(record: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DatasetError, match=complaint):
        questions(record)


def test_two_samples_of_one_name_are_refused() -> None:
    with pytest.raises(DatasetError, match="'conv-7' occurs twice"):
        questions(sample(), sample())


def test_corrected_golds_replace_answers_and_evidence(tmp_path: Path) -> None:
    file = written(tmp_path / "locomo.json", [sample("conv-26")])
    golds = written(
        tmp_path / "golds.json",
        [
            {"question_id": "conv-26#q0001", "answer": ["May 2023", "early May"]},
            {
                "question_id": "locomo_0_qa3",
                "correct_answer": "Biscuit",
                "correct_evidence": ["D2:2"],
            },
            {"question_id": "conv-99#q0000", "answer": "elsewhere"},
        ],
    )
    dataset = open_dataset("locomo", file, golds)
    assert dataset.outlines[1].answers == ("May 2023", "early May")
    assert dataset.outlines[1].evidence_ids == ("D1:1",)
    assert dataset.outlines[3].evidence_turn_ids == ("D2:2",)
    assert dataset.gold is not None
    assert (dataset.gold["file"], dataset.gold["changed"]) == ("golds.json", 2)


@pytest.mark.parametrize(
    ("records", "complaint"),
    [
        ([{"question_id": "conv-7#q0000"}], "corrects neither answer nor evidence"),
        ([{"answer": "x"}], "question_id: expected text"),
        ([{"question_id": "locomo_10_qa1", "answer": "x"}], "there are ten conversations"),
        ([{"question_id": "x", "answer": "x"}], "corrects no question of this data set"),
        ([{"question_id": "a", "answer": "x"}, {"question_id": "a", "answer": "y"}], "a second"),
    ],
)
def test_golds_that_correct_nothing_are_refused(
    tmp_path: Path, records: list[dict[str, Any]], complaint: str
) -> None:
    file = written(tmp_path / "locomo.json", [sample()])
    with pytest.raises(DatasetError, match=complaint):
        open_dataset("locomo", file, written(tmp_path / "golds.json", records))


def test_golds_are_for_locomo_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--gold corrects locomo"):
        open_dataset("sample", None, tmp_path / "golds.json")


def public_question(index: int, **more: Any) -> dict[str, Any]:
    return {
        "qa_id": f"conv-7#q{index:04d}",
        "sample_id": "conv-7",
        "conversation_idx": 0,
        "qa_index": index,
        "question": "What is Tom's dog called?",
        "answer": ["Biscuit", "the greyhound Biscuit"],
        "category": "4",
        "evidence": ["D2:1"],
        **more,
    }


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_refined_questions_alone_can_be_judged_but_not_replayed(tmp_path: Path) -> None:
    file = lines(tmp_path / "questions.jsonl", public_question(0), public_question(5))
    dataset = open_dataset("locomo-refined", file)
    assert [q.question_id for q in dataset.outlines] == ["conv-7#q0000", "conv-7#q0005"]
    assert dataset.outlines[0].answers == ("Biscuit", "the greyhound Biscuit")
    assert dataset.outlines[0].question_type == "single-hop"
    with pytest.raises(UsageError, match="judged, not replayed"):
        dataset.read({"conv-7#q0000"})


def test_refined_questions_beside_their_conversations_can_be_replayed(tmp_path: Path) -> None:
    content = sample()["conversation"]
    sessions = [
        {
            "session_index": n,
            "date_time": content[f"session_{n}_date_time"],
            "messages": content[f"session_{n}"],
        }
        for n in (1, 2)
    ]
    file = lines(tmp_path / "questions.jsonl", public_question(5))
    record = {"sample_id": "conv-7", "speaker_a": "Ines", "speaker_b": "Tom", "sessions": sessions}
    lines(tmp_path / "conversations.jsonl", record)
    (question,) = open_dataset("locomo-refined", file).read({"conv-7#q0005"})
    assert [session.session_id for session in question.sessions] == ["session_1", "session_2"]
    assert question.evidence_session_ids == ("session_2",)
    lines(tmp_path / "conversations.jsonl", record | {"sample_id": "conv-8"})
    with pytest.raises(DatasetError, match="has no conversation conv-7"):
        open_dataset("locomo-refined", file)


@pytest.mark.real_data
def test_the_development_conversations() -> None:
    if not REAL.exists():
        pytest.skip("the development data is not there")
    dataset = open_dataset("locomo", REAL)
    histories = list(dataset.histories({q.question_id for q in dataset.outlines}))
    found = {}
    for questions in histories:
        kinds = Counter(question.question_type for question in questions)
        sessions = questions[0].sessions
        turns = sum(len(session.turns) for session in sessions)
        by_category = tuple(kinds[name] for name in LOCOMO_CATEGORIES.values())
        found[questions[0].history_id] = (len(sessions), turns, by_category)
    # Sessions, turns, and questions of the categories 1 to 5.
    assert found == {
        "conv-26": (19, 419, (32, 37, 13, 70, 47)),
        "conv-30": (19, 369, (11, 26, 0, 44, 24)),
        "conv-41": (32, 663, (31, 27, 8, 86, 41)),
        "conv-42": (29, 629, (37, 40, 11, 111, 61)),
        "conv-43": (29, 680, (31, 26, 14, 107, 64)),
    }
    unlabelled = [q for q in dataset.outlines if not q.evidence_rounds]
    assert [len(q.evidence_ids) for q in unlabelled] == [0, 0]
