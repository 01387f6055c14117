"""What was replied is quoted in its context."""

from datetime import UTC, datetime

import pytest

from assistant.answering.passages import in_passage, is_in_passage, passages
from assistant.answering.statements import Statement
from memory_store import (
    Recalled,
    Record,
    Round,
    Speaker,
)
from memory_store.language import ENGLISH

TRAIL = "Certainly! I recommend the GR-90. This trail offers panoramic views.\n\nEnjoy your walk!"
BARS = "Happy to help. Here are two bars:\n\n1. Sumoboo: desserts.\n2. Miss Bee: a bar with cake."


def statement(text: str, reply: str, speaker: Speaker = Speaker.ASSISTANT) -> Statement:
    said = Round("ann", "s", 0, datetime(2023, 5, 20, tzinfo=UTC), reply, reply)
    return Statement(text, speaker, Recalled(Record(said), 1.0, {}))


@pytest.mark.parametrize(
    ("text", "reply", "passage"),
    [
        ("This trail offers panoramic views.", TRAIL, TRAIL.partition("\n")[0]),
        ("Enjoy your walk!", TRAIL, "Enjoy your walk!"),
        ("Here are two bars:", BARS, "Happy to help. Here are two bars: 1. Sumoboo; 2. Miss Bee"),
        ("Happy to help.", BARS, "Happy to help. Here are two bars: 1. Sumoboo; 2. Miss Bee"),
        ("Miss Bee: a bar with cake.", BARS, "2. Miss Bee: a bar with cake."),
        ("One two.", f"One two. {'Long ' * 70}end. Three.", "One two."),
        ("Two.", f"{'Long ' * 70}end. Two. Three.", "Two. Three."),
    ],
)
def test_in_passage(text: str, reply: str, passage: str) -> None:
    assert in_passage(statement(text, reply), ENGLISH).quotable == passage


def test_a_passage_is_quoted_once() -> None:
    views, walk = "This trail offers panoramic views.", "Enjoy your walk!"
    near = [statement(text, TRAIL) for text in (views, "I recommend the GR-90.", walk)]
    found = passages(near, ENGLISH, replies=True)
    assert [quote.text for quote in found] == [views, walk]
    assert is_in_passage(near[1], found[0])
    assert not is_in_passage(statement(near[1].text, TRAIL, Speaker.USER), found[0])


@pytest.mark.parametrize(
    ("text", "message", "passage"),
    [
        ("£240", "mince ate a sock. £240", "mince ate a sock. £240"),
        ("We moved!", "We moved! Any tips?", "We moved!"),
        (
            "It hurts.",
            f"My knee. It hurts. {'Nothing else happened on that long and quiet day. ' * 5}",
            "My knee. It hurts. Nothing else happened on that long and quiet day.",
        ),
        (
            "We went to the sea and had fish and chips.",
            f"We went to the sea and had fish and chips. {'It rained on us all day. ' * 5}",
            "We went to the sea and had fish and chips.",
        ),
    ],
)
def test_of_a_message_all_is_quoted_where_it_is_short(
    text: str, message: str, passage: str
) -> None:
    quote = in_passage(statement(text, message, Speaker.USER), ENGLISH)
    assert quote.quotable.startswith(passage)
    assert len(quote.quotable) <= max(160, len(text))


def test_what_was_pasted_is_quoted_by_the_sentence() -> None:
    letter = "Please check:\n\nMy dentist is Dr Peeters. I like her."
    quote = in_passage(statement("I like her.", letter, Speaker.QUOTED), ENGLISH)
    assert quote.quotable == "I like her."
