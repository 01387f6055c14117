"""What one speaker is asked for, and another said."""

from datetime import UTC, datetime

import pytest

from assistant.answering.conclusions import unsaid
from assistant.answering.statements import Statement
from memory_store import Recalled, Record, Round, Speaker

SAID = Round("ann", "s", 0, datetime(2023, 5, 20, tzinfo=UTC), "Hello.", "")
ASKED = "What did Caroline paint?"
CAROLINE = ("Caroline", "I like tea.", 0.3)


def statement(name: str, text: str, closeness: float) -> Statement:
    found = Recalled(Record(SAID), 1.0, {})
    return Statement(text, Speaker.USER, found, closeness=closeness, said_by=name)


@pytest.mark.parametrize(
    ("question", "said", "name"),
    [
        (ASKED, [CAROLINE, ("Melanie", "I painted a sunset.", 0.9)], "Caroline"),
        ("What did Melanie paint?", [CAROLINE, ("Melanie", "I painted a sunset.", 0.9)], ""),
        ("What was painted?", [CAROLINE, ("Melanie", "I painted a sunset.", 0.9)], ""),
        ("Did Caroline and Melanie paint?", [CAROLINE, ("Melanie", "I painted.", 0.9)], ""),
        (ASKED, [CAROLINE, ("Melanie", "I painted a sunset.", 0.4)], ""),
        (ASKED, [CAROLINE, ("Melanie", "I love the sunset you painted.", 0.9)], ""),
        (ASKED, [CAROLINE, ("Melanie", "Caroline painted a sunset.", 0.9)], ""),
        (ASKED, [CAROLINE, ("Melanie", "I met Caroline.", 0.9)], ""),
        (ASKED, [CAROLINE, ("Melanie", "Caroline, I painted a sunset!", 0.9)], "Caroline"),
        (ASKED, [CAROLINE, ("Melanie", "Thanks Caroline! I painted a sunset.", 0.9)], "Caroline"),
        (ASKED, [CAROLINE, ("", "I painted a sunset.", 0.9)], ""),
        (ASKED, [CAROLINE], ""),
        (ASKED, [("Melanie", "I painted a sunset.", 0.9)], ""),
    ],
)
def test_unsaid(question: str, said: list[tuple[str, str, float]], name: str) -> None:
    assert unsaid(question, [statement(*one) for one in said]) == name
