"""A question as the statement that would hold its answer."""

import pytest

from memory_store.language import ENGLISH

CASES = [
    ("How many bikes do I own?", "I bikes I own"),
    ("Where did I buy the blue lamp?", "I buy the blue lamp"),
    ("Which train did I take last Friday?", "I train I take"),
    ("What was the exhibition I visited three weeks ago?", "I the exhibition I visited"),
    ("How long have I been learning the cello?", "I been learning the cello"),
    ("Do I still keep bees?", "I still keep bees"),
    ("What's my sister's new job?", "my sister's new job"),
    ("On which day did I plant the garlic?", "I day I plant the garlic"),
    ("Can you help me remember the name of the bakery?", "I the name of the bakery"),
    ("Could you please remind me about the recipe we settled on?", "I the recipe we settled on"),
    (
        "I am going through our talk about Lisbon. What was the name of the bakery you praised?",
        "I the name of the bakery you praised",
    ),
    ("How many concerts did I see in the past two months in total?", "I concerts I see"),
]
UNCHANGED = [
    "I moved to Utrecht.",
    "my sister's new job",
    "Quel est le nom de mon chat ?",
    "Why?",
    "我的猫叫什么名字？",
    "Recommend",
    "Can you recommend some accessories for my tent?",
    "I grow beans in pots. How should I water them in July?",
    "My room is dark. Any ideas?",
    "",
]


@pytest.mark.parametrize(("question", "statement"), CASES)
def test_the_opening_and_the_time_of_a_question_go(question: str, statement: str) -> None:
    assert ENGLISH.as_statement(question) == statement


@pytest.mark.parametrize("text", UNCHANGED)
def test_what_does_not_open_as_a_question_stays(text: str) -> None:
    assert ENGLISH.as_statement(text) == text
