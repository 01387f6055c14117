"""Lists in replies, and questions for an item of one."""

import pytest

from assistant.answering.passages import Listed, asked_item, lists_in

NUMBERED = """Sure!
To open a bar, buy these bottles:

1. **Campari**: bitter and red.
   It keeps for months.
2. **Gin** - for nearly everything.

Enjoy."""
IN_A_LINE = "Try: 1. Bakery & Co: good cake. 2. Sumoboo: desserts. 3. Raa Cha"
BULLETED = """You need:
- 2-3 eggs
-A pinch of salt

Steps:
1. Whisk.
2. Fry."""


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (NUMBERED, ["To open a bar, buy these bottles: 1. Campari; 2. Gin"]),
        (IN_A_LINE, ["Try: 1. Bakery & Co; 2. Sumoboo; 3. Raa Cha"]),
        (BULLETED, ["You need: 1. 2-3 eggs; 2. A pinch of salt", "Steps: 1. Whisk; 2. Fry"]),
        ("1. One\n2. Two\n\n1. Other\n2. Another", ["1. One; 2. Two", "1. Other; 2. Another"]),
        ("1. Fruit\n- apples\n- pears\n2. Bread", ["1. Fruit; 2. Bread"]),
        ("Only one:\n- thing", []),
        ("It took from 9. to 5. and 1. was late.", []),
        ("**Bold**\n**Bolder**\n---\n---", []),
        ("", []),
    ],
)
def test_lists_in(text: str, short: list[str]) -> None:
    assert [listed.in_short for listed in lists_in(text)] == short


def test_items_are_whole() -> None:
    campari, gin = lists_in(NUMBERED)[0].items
    assert campari == "**Campari**: bitter and red. It keeps for months."
    assert gin == "**Gin** - for nearly everything."


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("Remind me what the second bottle was?", "b"),
        ("What was the 3rd one you listed?", "c"),
        ("What was the third?", "c"),
        ("What was the last option you gave me?", "d"),
        ("Which was the final gin bottle?", "d"),
        ("In the last conversation, which was the first bottle?", "a"),
        ("What was the 27th bottle?", None),
        ("What was the last movie you recommended?", None),
        ("What was the second song about?", None),
    ],
)
def test_the_item_asked_for(question: str, item: str | None) -> None:
    asked = asked_item(question)
    assert asked is not None
    assert asked.of(Listed("Buy these bottles:", ("a", "b", "c", "d"))) == item


@pytest.mark.parametrize(
    "question",
    [
        "What did you say the last time?",
        "What is a third?",
        "Which bottle was it?",
        "What was the 0th bottle?",
    ],
)
def test_no_item_is_asked_for(question: str) -> None:
    assert asked_item(question) is None
