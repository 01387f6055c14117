"""Whether a message is taken to tell only, or to want an answer."""

from datetime import date

import pytest

from assistant.chat.call import MAY_ASK, Meaning
from memory_store.language import ENGLISH

TODAY = date(2023, 6, 10)

TOLD = [
    "I adopted a cat called Miso last Tuesday.",
    "My sister moved to Porto. She likes it there!",
    "Thanks, that helps a lot.",
    "Please remember that my locker is number 12.",
    "Also, please note: I am allergic to nuts.",
    "Don't forget I moved to Porto",
    "Please remember that I can swim and could dive.",
    "Please note that I read and write every day.",
    "List price is 40, we paid 30.",
]
ASKED = [
    "Please note the following text and summarize it.",
    "Please remember that I live in Ghent and list my addresses.",
    "Note that I moved, and then tell me my old address",
    "Remember what I told you?",
    "Please remember where I left my bike",
    "Please remember that I moved. Where did I live before",
    "Tell me the name of my cat",
    "Tell me everyone I have gone out with this year.",
    "List all the places we considered.",
    "Sum up what we decided",
    "in which order did i tell you about my trips",
    "Summarize this article on rivers.",
    "Please summarise how my garden came along over the year.",
    "Give me a recap of what you said about my garden.",
    "List all my trips in the order I mentioned them",
    "I was wondering where I left my bike",
    "what colour is my bicycle",
    "Is my cat vegan?",
    "List my trips in chronological order",
    "Remind me what the third film was.",
    "Tell me everything about myself",
]


def meaning_of(text: str) -> Meaning:
    return Meaning.of(text, text, ENGLISH, TODAY)


@pytest.mark.parametrize("text", TOLD)
def test_what_tells_alone_wants_no_answer(text: str) -> None:
    assert meaning_of(text).reading.asking < MAY_ASK


@pytest.mark.parametrize("text", ASKED)
def test_what_asks_anything_is_answered(text: str) -> None:
    assert not meaning_of(text).only_tells


@pytest.mark.parametrize(
    ("text", "tells", "only_tells"),
    [
        ("I moved to Ghent in March.", True, True),
        ("I moved to Lyon. Where can I swim?", True, False),
        ("Where do I live?", False, False),
        ("hi", False, False),
        # What tells for sure is not answered for a word that may ask.
        ("what the roofer charged us in the end: 840, and he swept the yard", True, True),
        ("did the training today, so weird after two years with pens", True, True),
        ("our floor is cold slate, can you suggest a rug", True, False),
        # A fragment may tell of a thing, or look for it.
        ("hiding place cellar key", True, False),
    ],
)
def test_both_may_hold_at_once(text: str, tells: bool, only_tells: bool) -> None:
    meaning = meaning_of(text)
    assert meaning.tells is tells
    assert meaning.only_tells is only_tells
