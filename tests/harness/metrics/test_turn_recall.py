"""Retrieval of evidence named by turn ids: all categories, both conventions of the benchmark."""

from typing import Any

import pytest
from conversations import qa, sample

from harness.datasets.locomo import parse_locomo
from harness.datasets.questions import digest_of
from harness.metrics.retrieval_table import retrieval_table, turn_recall_table
from harness.records.digest import QuestionDigest


def digests() -> list[QuestionDigest]:
    return [digest_of(question) for question in parse_locomo([sample()], source="f")]


def line(*turns: str) -> dict[str, Any]:
    rounds = [
        {
            "turn_ids": [name],
            "session_id": f"session_{name[1]}",
            "position": int(name[1]) - 1,
            "round_index": int(name[3]) - 1,
            "characters": 10,
            "official_id": None,
        }
        for name in turns
    ]
    return {"ranked_rounds": rounds, "ranked_sessions": []}


def table() -> dict[str, Any]:
    questions = digests()
    ranking = line("D1:1", "D1:2", "D1:3", "D2:2", "D1:1", "D2:1")
    figures = turn_recall_table(questions, {q.question_id: ranking for q in questions})
    assert figures is not None
    return figures


def test_strict_finds_turns_whatever_the_notation() -> None:
    strict = table()["strict"]
    assert strict["overall"]["recall_fraction@10"] == {"value": 1.0, "n": 4}
    assert strict["by_type"]["multi-hop"]["recall_fraction@5"] == {"value": 0.5, "n": 1}
    assert strict["by_type"]["multi-hop"]["recall_all@5"]["value"] == 0
    assert strict["by_type"]["multi-hop"]["recall_any@5"]["value"] == 1
    assert strict["by_type"]["adversarial"]["recall_all@10"] == {"value": 1.0, "n": 1}
    assert "open-domain" not in strict["by_type"]


def test_official_compares_ids_as_they_stand() -> None:
    official = table()["official"]
    assert official["by_type"]["temporal"]["recall@5"] == {"value": 1.0, "n": 1}
    assert official["by_type"]["multi-hop"]["recall@50"]["value"] == 0
    assert official["by_type"]["single-hop"]["recall@50"]["value"] == 0


def test_without_evidence_official_counts_one_overall_and_zero_in_its_category() -> None:
    official = table()["official"]
    assert official["by_type"]["open-domain"]["recall@50"] == {"value": 0, "n": 1}
    assert official["overall"]["recall@50"] == {"value": pytest.approx(2 / 5), "n": 5}
    assert official["per_question"]["recall@50"] == {"value": pytest.approx(3 / 5), "n": 5}


def test_what_names_no_turn_is_counted() -> None:
    assert (table()["without_evidence"], table()["evidence_not_found"]) == (1, 0)
    lost = parse_locomo([sample(qa=[qa("?", 4, ["D9:9"], answer="x")])], source="f")
    digest = digest_of(lost[0])
    figures = turn_recall_table([digest], {digest.question_id: line("D1:1")})
    assert figures is not None
    assert figures["evidence_not_found"] == 1
    assert figures["strict"]["overall"] == {}


def test_such_data_has_no_longmemeval_definitions_in_its_table() -> None:
    questions = digests()
    figures = retrieval_table(questions, {q.question_id: line("D1:1") for q in questions})
    assert figures["official"] is None
    assert figures["turn"]["strict"]["overall"]["recall_any@1"]["n"] == 4
    assert figures["round"]["recall_any@1"]["n"] == 3
    assert figures["round_by_type"]["temporal"]["recall_all@1"] == {"value": 1.0, "n": 1}
