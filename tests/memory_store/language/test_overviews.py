"""Questions for an overview of what was said, told from questions about other orders and texts."""

import pytest

from memory_store import ENGLISH, PLAIN, is_about_talk, wants_order


@pytest.mark.parametrize(
    "text",
    [
        "Can you summarise how my garden came along?",
        "Give me an overview of everything we talked about.",
        "please sum up what I told you of my move",
        "Hello again. Recap our last chats for me.",
        "can you summarize my trip.",
        "hey, could u put together a summary of my health stuff",
        "In what order I’ve mentioned my cities?",
        "In which order did I bring up the parts of my thesis?",
        "Walk me through the sequence in which we discussed the trip, please?",
    ],
)
def test_an_overview_is_wanted(text: str) -> None:
    assert ENGLISH.wants_overview(text)
    assert PLAIN.wants_overview(text)


@pytest.mark.parametrize(
    "text",
    [
        "Summarize this article: The bank raised its rates again.",
        "I wrote a summary of my book for class today.",
        "When did I finish the recap video for my channel?",
        "how many pages was my summary?",
        "In which order did I visit Ghent and Bruges?",
        "What was my first order from the bakery?",
        "What did I do in order to save money?",
        "What did we talk about in our last chat?",
        "",
    ],
)
def test_no_overview_is_wanted(text: str) -> None:
    assert not ENGLISH.wants_overview(text)


def test_what_an_overview_is_told_by() -> None:
    assert wants_order("in the order of their age")
    assert not wants_order("in order to save money")
    assert is_about_talk("what did we discuss in our last session?")
    assert not is_about_talk("what did I do last month?")


def test_other_languages_have_no_rule() -> None:
    assert not PLAIN.wants_overview(
        "Kannst du zusammenfassen, was ich über my garden erzählt habe?"
    )
