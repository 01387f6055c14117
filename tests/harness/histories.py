"""Small hand-written LongMemEval instances, and files that hold them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Turns = list[dict[str, Any]]


def turn(role: str, content: str, *, has_answer: bool | None = None) -> dict[str, Any]:
    label = {} if has_answer is None else {"has_answer": has_answer}
    return {"role": role, "content": content, **label}


def chat(user: str, assistant: str = "Noted.", *, has_answer: bool | None = None) -> Turns:
    return [turn("user", user, has_answer=has_answer), turn("assistant", assistant)]


def instance(question_id: str = "q1", **changes: Any) -> dict[str, Any]:
    """A question about a kayak with one evidence session and one filler."""
    record = {
        "question_id": question_id,
        "question_type": "single-session-user",
        "question": "What colour is the kayak I bought?",
        "answer": "turquoise",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": ["answer_ab12_1", "ffee_2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 08:00"],
        "haystack_sessions": [
            chat("The kayak I bought is turquoise.", has_answer=True),
            chat("My cat sleeps all day."),
        ],
        "answer_session_ids": ["answer_ab12_1"],
    }
    return record | changes


def history(*sessions: tuple[str, str, Turns], evidence: Sequence[str] = ()) -> dict[str, Any]:
    """The haystack fields of an instance from (id, date, turns) of every session."""
    return {
        "haystack_session_ids": [name for name, _, _ in sessions],
        "haystack_dates": [date for _, date, _ in sessions],
        "haystack_sessions": [turns for _, _, turns in sessions],
        "answer_session_ids": list(evidence),
    }


def three_questions() -> list[dict[str, Any]]:
    """One that is answerable, one with a date, one that cannot be answered."""
    return [
        instance("q1"),
        instance(
            "q2",
            question_type="temporal-reasoning",
            question="How many days before the race did I buy shoes?",
            answer="7 days",
            **history(
                (
                    "answer_cd34_1",
                    "2023/05/08 (Mon) 09:00",
                    chat("I bought shoes.", has_answer=True),
                ),
                ("answer_cd34_2", "2023/05/15 (Mon) 09:00", chat("Race day!", has_answer=True)),
                evidence=["answer_cd34_1", "answer_cd34_2"],
            ),
        ),
        instance(
            "q3_abs",
            question="What colour is the tent I bought?",
            answer="You did not mention a tent.",
        ),
    ]


def write_data(path: Path, instances: Sequence[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(instances), encoding="utf-8")
    return path


def many(path: Path, count: int = 12) -> Path:
    """So many questions about the kayak in a file."""
    return write_data(path, [instance(f"q{n}") for n in range(count)])


def two_sessions(folder: Path) -> Path:
    """One question of two sessions, the later one first."""
    sessions = history(
        ("late", "2023/05/21 (Sun) 08:00", [turn("assistant", "L0"), *chat("L1", "L2")]),
        ("early", "2023/05/20 (Sat) 23:59", [*chat("E0", "E1"), turn("user", "E2")]),
        evidence=["early"],
    )
    return write_data(folder / "order.json", [instance("q1") | sessions])
