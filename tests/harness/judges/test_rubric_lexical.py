"""The judge of BEAM's rubrics by words: what it passes, what it fails, and what it cannot see."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from beaming import record

from harness.datasets.beam_chats import questions_of
from harness.datasets.questions import DESCRIBED_TYPES, EVENT_ORDERING, digest_of
from harness.datasets.registry import open_dataset
from harness.judges.lexical import LexicalJudge
from harness.judges.registry import make_judge
from harness.judges.rubric_lexical import order_of, score
from harness.records.digest import QuestionDigest

REAL = Path(__file__).parents[4] / "shared" / "data" / "beam_100k_dev10.json.xz"
QUESTIONS = {q.question_type: digest_of(q) for q in questions_of(record(), "f")}
CONTRADICTION = replace(
    QUESTIONS["summarization"],
    question_type="contradiction_resolution",
    question="Have I ever painted a hive?",
    rubric=(
        "LLM response should state: there is contradictory information",
        "LLM response should mention: You said you have never painted a hive",
        "LLM response should mention: you also mentioned painting the blue hive in March",
        "LLM response should mention: which statement is correct?",
    ),
)


def points(question: QuestionDigest, said: str) -> list[float]:
    return list(score(question, said).details["points"])


@pytest.mark.parametrize(
    ("ability", "said", "expected"),
    [
        ("knowledge_update", "You have five hives now.", [1.0]),
        ("knowledge_update", "You have 5 hives.", [1.0]),
        ("knowledge_update", "You have four hives.", [0.0]),
        ("knowledge_update", "I don't know.", [0.0]),
        ("summarization", "Four beehives stand there; you spun honey in May.", [1.0, 1.0]),
        ("summarization", "You spun honey.", [0.0, 0.5]),
        ("abstention", "You never told me who sold it.", [1.0]),
        ("abstention", "The miller's widow sold it to you in 2019.", [0.0]),
    ],
)
def test_points_by_words(ability: str, said: str, expected: list[float]) -> None:
    assert points(QUESTIONS[ability], said) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "There is a contradiction: you said you never painted a hive, but you mentioned "
            "painting the blue hive in March. Could you clarify?",
            [1.0, 1.0, 1.0, 1.0],
        ),
        # One side alone, as if there were no other.
        ("No, you have never painted a hive.", [0.0] * 4),
        # Another contradiction: its manner counts for nothing.
        ("You contradict yourself about the mill wheel. Could you clarify?", [0.0] * 4),
    ],
)
def test_a_contradiction_must_be_this_one(said: str, expected: list[float]) -> None:
    assert points(CONTRADICTION, said) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("1) Four beehives behind the mill, 2) a fifth hive, 3) spun honey", [1, 2, 3]),
        ("1. The honey was spun\n2. A trip to Rome\n3. Your fifth hive", [3, 0, 2]),
        ("- spun honey\n- the fifth hive", [3, 2]),
        ("You began with beehives behind the mill. It rained. Then you spun honey.", [1, 3]),
        ("I don't know.", []),
    ],
)
def test_the_order_of_a_list_or_of_sentences(said: str, expected: list[int]) -> None:
    assert order_of(QUESTIONS[EVENT_ORDERING].rubric, said) == expected


async def test_the_verdict_is_that_of_the_fractional_score() -> None:
    judge = make_judge("beam")
    found = await judge.judge(QUESTIONS["summarization"], "Four beehives.")
    assert (found.verdict, found.details["rubric"]["fractional"]) == ("yes", 0.5)
    assert (await judge.judge(QUESTIONS["summarization"], "")).verdict == "no"
    assert judge.prompts(QUESTIONS["summarization"], "Four.") == []
    await judge.close()


async def test_the_other_lexical_judge_leaves_rubrics_unscored() -> None:
    found = await LexicalJudge().judge(QUESTIONS["summarization"], "Four beehives.")
    assert found.verdict is None
    assert "choose another --judge" in found.raw


@pytest.mark.real_data
def test_references_pass_and_those_of_other_chats_fail() -> None:
    if not REAL.exists():
        pytest.skip("the development data is not there")
    by_ability = defaultdict(list)
    for question in open_dataset("beam", REAL).outlines:
        by_ability[question.question_type].append(question)
    own, others = [0, 0], [0, 0]
    for ability, questions in by_ability.items():
        for question in questions:
            if ability not in DESCRIBED_TYPES:
                own[0] += score(question, question.answer).verdict == "yes"
                own[1] += 1
            for other in questions if ability != "abstention" else ():
                if other.history_id != question.history_id:
                    others[0] += score(question, other.answer).verdict == "yes"
                    others[1] += 1
    assert own == [160, 160]
    assert others[1] == 9 * 360
    assert others[0] / others[1] < 0.03
