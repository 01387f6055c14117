"""F1 and BLEU-1 as the benchmarks define them; V7-V9 are the reference's own vectors."""

from typing import Any

import pytest
from conversations import sample

from harness.datasets.locomo import parse_locomo
from harness.datasets.locomo_scores import list_f1, locomo_f1, stems, token_f1
from harness.datasets.questions import digest_of
from harness.datasets.refined import best_first, final_answer, overlap, refined_scores
from harness.metrics.official_scores import metric_table
from harness.records.digest import QuestionDigest


@pytest.mark.parametrize(
    ("prediction", "answer", "expected"),
    [
        ("She went on May 7, 2023", "7 May 2023", 0.6667),
        ("the running shoes", "run shoe", 1.0),
        ("", "run shoe", 0.0),
        ("a the and", "the", 0.0),
        ("dog dog", "dog", 0.6667),
    ],
)
def test_v7_token_f1(prediction: str, answer: str, expected: float) -> None:
    assert token_f1(prediction, answer) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("prediction", "answer", "expected"),
    [
        ("swimming, pottery", "pottery, camping, painting, swimming", 0.5),
        ("pottery and camping", "pottery, camping", 0.6667),
        ("", "pottery", 0.0),
    ],
)
def test_v8_list_answers(prediction: str, answer: str, expected: float) -> None:
    assert list_f1(prediction, answer) == pytest.approx(expected, abs=5e-5)
    assert locomo_f1("multi-hop", prediction, answer) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("category", "prediction", "answer", "expected"),
    [
        ("open-domain", "Likely no", "Likely no; since it went badly", 1.0),
        ("single-hop", "Likely no", "Likely no; since it went badly", 0.5),
        ("adversarial", "There is No Information Available.", "anything", 1.0),
        ("adversarial", "It was not mentioned.", "anything", 1.0),
        ("adversarial", "I don't know.", "anything", 0.0),
        ("adversarial", "Biscuit", "Biscuit", 0.0),
    ],
)
def test_categories_are_scored_each_in_their_way(
    category: str, prediction: str, answer: str, expected: float
) -> None:
    assert locomo_f1(category, prediction, answer) == pytest.approx(expected)


def test_stems_are_those_of_nltk_not_of_the_original_rules() -> None:
    assert stems("Yesterday, they were trying the toys!") == [
        "yesterday",
        "they",
        "were",
        "tri",
        "toy",
    ]


@pytest.mark.parametrize(
    ("prediction", "answer", "f1", "bleu1"),
    [
        ("May 2023", "7 May 2023", 0.8, 0.6065),
        ("On 7 May, 2023.", "7 May 2023", 0.6667, 0.5),
        ("running shoes", "a pair of running shoes", 0.5714, 0.2231),
        ("boots", "running shoes", 0.0, 0.0),
    ],
)
def test_v9_refined_overlap(prediction: str, answer: str, f1: float, bleu1: float) -> None:
    assert overlap(prediction, answer) == pytest.approx((f1, bleu1), abs=5e-5)


@pytest.mark.parametrize(
    ("prediction", "cleaned"),
    [
        ("Biscuit ", "Biscuit"),
        (r"So \boxed{Rex}, no: \boxed{Biscuit}.", "Biscuit"),
        (r"It is \box{Biscuit}", "Biscuit"),
        ("Hm. FINAL ANSWER: Biscuit", "Biscuit"),
        ("<think>Rex?</think>Biscuit", "Biscuit"),
        ("Final answer: <think>Rex</think> Biscuit", "Biscuit"),
    ],
)
def test_only_the_answer_proper_counts(prediction: str, cleaned: str) -> None:
    assert final_answer(prediction) == cleaned


def test_the_best_answer_counts_and_nothing_said_scores_nothing() -> None:
    answers = ("the greyhound", "Biscuit the greyhound")
    assert refined_scores("Biscuit the greyhound", answers) == (1.0, 1.0)
    assert refined_scores("greyhound", answers).f1 == pytest.approx(0.6667, abs=5e-5)
    assert refined_scores(" ", answers) == (0.0, 0.0)
    assert best_first("greyhound", ("Rex", *answers)) == [*answers, "Rex"]


def digests() -> list[QuestionDigest]:
    return [digest_of(question) for question in parse_locomo([sample()], source="f")]


def test_a_run_is_scored_over_all_questions_and_over_those_that_are_there() -> None:
    hypotheses: dict[str, Any] = {
        "conv-7#q0003": {"hypothesis": "Biscuit"},
        "conv-7#q0004": {"hypothesis": "Not mentioned."},
        "conv-7#q0001": {"hypothesis": "In May"},
    }
    table = metric_table("locomo", digests(), hypotheses)
    assert table is not None
    assert table["metric"] == "locomo"
    assert table["missing"] == 2
    assert table["overall"]["f1"] == {"value": pytest.approx(2 / 5), "n": 5}
    assert table["present"]["f1"] == {"value": pytest.approx(2 / 3), "n": 3}
    assert table["answerable"]["f1"] == {"value": pytest.approx(1 / 4), "n": 4}
    assert list(table["by_type"]) == [
        *("single-hop", "multi-hop", "temporal", "open-domain", "adversarial")
    ]
    assert table["by_type"]["adversarial"]["f1"] == {"value": 1.0, "n": 1}


def test_refined_has_two_metrics_and_others_have_none() -> None:
    hypotheses = {"conv-7#q0003": {"hypothesis": "Biscuit"}}
    table = metric_table("locomo-refined", digests(), hypotheses)
    assert table is not None
    assert set(table["overall"]) == {"f1", "bleu1"}
    assert table["by_type"]["single-hop"]["bleu1"]["value"] == 1.0
    assert metric_table("mine", [], {}) is None
