"""Each quirk of the official scripts that concerns accuracy: kept in `official`, mended in ours."""

from typing import Any

import pytest
from histories import instance

from harness.datasets.longmemeval import official_label, parse_instances
from harness.datasets.questions import LONGMEMEVAL_TYPES, digest_of
from harness.metrics.accuracy import Scored, accuracy_table, official_accuracy
from harness.records.digest import QuestionDigest


def digest(question_id: str, kind: str = "multi-session") -> QuestionDigest:
    record = instance(question_id, question_type=kind)
    return digest_of(parse_instances([record], source="f")[0])


def figures(
    questions: list[QuestionDigest], verdicts: dict[str, str], **lines: int
) -> dict[str, Any]:
    hypotheses = {key: {"hypothesis": "x", "lines": lines.get(key, 1)} for key in verdicts}
    judged = {key: {"judge": "lexical-1", "verdict": value} for key, value in verdicts.items()}
    official = official_accuracy(questions, hypotheses, judged)
    assert official is not None
    return official


def strict(questions: list[QuestionDigest], verdicts: dict[str, Any]) -> dict[str, Any]:
    return accuracy_table(
        [
            Scored(
                question_id=q.question_id,
                question_type=q.question_type,
                is_abstention=q.is_abstention,
                outcome=verdicts.get(q.question_id, "missing"),
                refused=False,
                history_id=q.history_id,
            )
            for q in questions
        ]
    )


def test_q01_official_divides_by_the_lines_that_are_there() -> None:
    questions = [digest("a"), digest("b"), digest("c")]
    verdicts = {"a": "yes", "b": "no"}
    assert figures(questions, verdicts)["overall"] == {"value": 0.5, "n": 2}
    assert figures(questions, verdicts, a=2)["overall"] == {"value": pytest.approx(2 / 3), "n": 3}
    ours = strict(questions, verdicts)["overall"]
    assert (ours["value"], ours["n"]) == (pytest.approx(1 / 3), 3)


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("Yes.", True),
        ("no", False),
        ("It was yesterday", True),
        ("yes and no", True),
        ("No, although yes in part", True),
        ("", False),
    ],
)
def test_q02_official_looks_for_a_yes_anywhere_in_a_reply(reply: str, right: bool) -> None:
    assert official_label({"judge": "longmemeval=m", "verdict": None, "raw": reply}) is right


@pytest.mark.parametrize(
    ("verdict", "label"),
    [
        ({"verdict": "no", "raw": "no", "first_reply": "It was yesterday."}, True),
        ({"verdict": "yes", "raw": "yes", "first_reply": "Hard to say."}, False),
        ({"verdict": None, "raw": "eyes: no such model", "error": "JudgeCallFailed"}, None),
        (None, None),
    ],
)
def test_q02_official_takes_the_first_reply_and_nothing_else(
    verdict: dict[str, Any] | None, label: bool | None
) -> None:
    judged = verdict and verdict | {"judge": "longmemeval-1=m"}
    assert official_label(judged) is label


def test_q02_other_judges_keep_their_verdict() -> None:
    assert not official_label({"judge": "lexical-1", "verdict": "no", "raw": "yes/no differ"})


def test_q03_official_finds_abstention_anywhere_in_an_id() -> None:
    questions = [digest("a_abs"), digest("b_absent")]
    verdicts = {"a_abs": "yes", "b_absent": "no"}
    assert figures(questions, verdicts)["abstention"] == {"value": 0.5, "n": 2}
    ours = strict(questions, verdicts)["abstention"]
    assert (ours["value"], ours["n"]) == (1.0, 1)


def test_q04_numbers_are_told_as_text_in_both() -> None:
    record = instance("a", answer=15)
    assert digest_of(parse_instances([record], source="f")[0]).answer == "15"


def test_q05_a_type_without_answers_leaves_no_official_average() -> None:
    questions = [digest(kind, kind) for kind in LONGMEMEVAL_TYPES]
    all_right = dict.fromkeys(LONGMEMEVAL_TYPES, "yes")
    assert figures(questions, all_right)["task_averaged"] == {"value": 1.0, "n": 6}
    some = figures(questions, {"multi-session": "yes"})["task_averaged"]
    assert some == {"value": None, "n": 6}
    ours = strict(questions[:2], dict.fromkeys(LONGMEMEVAL_TYPES[:2], "yes"))["task_averaged"]
    assert ours == {"value": 1.0, "n": 2}


def test_q13_what_was_not_answered_is_listed() -> None:
    questions = [digest("a"), digest("b")]
    assert figures(questions, {"a": "yes"})["skipped"] == ["b"]


def test_other_data_has_no_official_longmemeval_figures() -> None:
    assert official_accuracy([digest("a", "temporal")], {}, {}) is None
