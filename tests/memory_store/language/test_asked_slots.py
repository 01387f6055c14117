"""What a question asks the value of."""

import pytest

from memory_store.language import ENGLISH
from memory_store.language.statements import stated


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Where do I live?", "I moved from Leeds to Ghent last week."),
        ("where am I living now", "I live in Ghent."),
        ("Do you know where I live?", "I live in Ghent."),
        ("Where do I currently work?", "I work at Acme."),
        ("What's my favorite colour?", "My favourite color is green."),
        ("whats my name", "Actually my name is Sophie."),
        ("Who is my dentist?", "My dentist is Dr. Maes."),
        ("What is my current salary?", "My salary is 50000 euros."),
        ("What is our rent?", "Our rent is 850 euros."),
        ("What is my phone number?", "My phone number is 555-1234."),
        ("How many cats do I have?", "I have two cats."),
    ],
)
def test_a_question_and_the_statement_that_answers_it(question: str, statement: str) -> None:
    known = stated(statement)
    assert known is not None
    assert ENGLISH.asked_slot(question) == known.slot


@pytest.mark.parametrize(
    "question",
    [
        "Where did I live in 2019?",
        "Where do I live? And where did I live before?",
        "Where does Clara live?",
        "What is my plan for Friday?",
        "What is my cat called?",
        "How many days do I have left?",
        "I live in Ghent.",
        "",
    ],
)
def test_no_frame_fits(question: str) -> None:
    assert ENGLISH.asked_slot(question) is None
