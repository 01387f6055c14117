"""Evidence in prompts: what counts as word for word, and the shares."""

import html
import json

import pytest
from histories import chat, history, instance, turn

from harness.datasets.longmemeval import parse_instances
from harness.datasets.questions import Question, digest_of
from harness.metrics.prompt_evidence import prompt_record, prompt_table

SAID = 'I said:\n"the kayak\tis <turquoise>" — 100 % sure.'


def question(text: str = SAID, **changes: object) -> Question:
    turns = [*chat("Hi."), turn("user", text, has_answer=True), turn("assistant", "Fine.")]
    record = instance(
        **history(("answer_1", "2023/05/20 (Sat) 02:21", turns), evidence=["answer_1"]), **changes
    )
    return parse_instances([record], source="test")[0]


def found(prompt: str) -> bool:
    (line,) = prompt_record(question(), [prompt])["evidence_turns"]
    return bool(line["found"])


@pytest.mark.parametrize(
    "prompt",
    [
        f"before {SAID} after",
        json.dumps({"user": SAID}),
        json.dumps({"user": SAID}, ensure_ascii=False, indent=2),
        json.dumps({"user": SAID}).replace("<", "\\u003c"),
        "before " + SAID.replace("\n", "\n    "),
        html.escape(SAID),
    ],
    ids=["plain", "json", "readable json", "escaped json", "indented", "as html"],
)
def test_word_for_word_in_any_writing(prompt: str) -> None:
    assert found(prompt)


@pytest.mark.parametrize(
    "prompt", ["", SAID[:-1], SAID.replace("turquoise", "green"), SAID.lower(), "Fine."]
)
def test_anything_less_is_not_found(prompt: str) -> None:
    assert not found(prompt)


def test_several_prompts_count_together() -> None:
    record = prompt_record(question(), ["x" * 10, SAID])
    assert record == {
        "question_id": "q1",
        "requests": 2,
        "characters": 10 + len(SAID),
        "tokens_estimate": (10 + len(SAID)) // 4,
        "evidence_turns": [
            {
                "position": 0,
                "turn": 2,
                "role": "user",
                "characters": len(SAID),
                "found": True,
                "begins": True,
                "text": " ".join(SAID.split()),
            }
        ],
    }


def test_the_beginning_of_a_long_turn_counts_by_itself() -> None:
    long = "We went to the lake, and then on. " * 20
    asked = question(long)
    (cut,) = prompt_record(asked, [long[:402] + " …"])["evidence_turns"]
    (too_short,) = prompt_record(asked, [long[:390] + " …"])["evidence_turns"]
    assert (cut["found"], cut["begins"], too_short["begins"]) == (False, True, False)
    table = prompt_table([digest_of(asked)], {"q1": prompt_record(asked, [long[:402]])})
    assert (table["value"], table["beginnings"]["all"]) == (0.0, {"value": 1.0, "n": 1})


def test_the_table_says_what_it_divides_by() -> None:
    questions = [
        question(question_id="q1"),
        question(question_id="q2", question_type="multi-session"),
        question(question_id="q3_abs"),
        question(question_id="q4"),
    ]
    prompts = {"q1": [SAID], "q2": ["x" * 40_000, SAID], "q3_abs": [SAID]}
    lines = {q.question_id: prompt_record(q, prompts.get(q.question_id, [])) for q in questions[:3]}
    table = prompt_table([digest_of(q) for q in questions], lines)
    assert (table["value"], table["n"]) == (1.0, 2)
    assert table["within"] == {
        "7000": {"value": 0.5, "n": 2},
        "16000": {"value": 1.0, "n": 2},
    }
    assert table["by_type"]["multi-session"] == {"value": 1.0, "n": 1}
    assert table["turns"] == {"user": {"value": 1.0, "n": 2}, "assistant": {"value": None, "n": 0}}
    assert table["tokens_estimate"]["max"] == 10_012
