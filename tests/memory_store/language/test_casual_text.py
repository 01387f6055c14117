"""What casual text states: names without capitals, statements without a subject."""

from datetime import date

import pytest

from memory_store.language import ENGLISH
from memory_store.language.statements import replaces

SAID_ON = date(2026, 5, 20)


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("i moved to bergen last week", "live in", "bergen"),
        ("hi! i moved to bruges last week btw, my cat Miso hates it", "live in", "bruges"),
        ("im living in san francisco now", "live in", "san francisco"),
        ("moved to ghent in april", "live in", "ghent"),
        ("i moved to the netherlands in march", "live in", "netherlands"),
        ("quit google and started at spotify", "work at", "spotify"),
        ("i work at ikea as a designer", "work at", "ikea"),
        ("working at ikea now", "work at", "ikea"),
        ("my dentist is dr kim", "dentist", "dr kim"),
        ("rent is now 950", "rent", "950"),
        ("I moved to Bergen last week", "live in", "bergen"),
    ],
)
def test_a_value_is_read(text: str, slot: str, value: str) -> None:
    stated = ENGLISH.stated(text)
    assert stated is not None
    assert (stated.slot, stated.value) == (slot, value)


@pytest.mark.parametrize(
    "text",
    [
        "i work at home",
        "i live in a small town",
        "i work for myself",
        "i moved to a new place last week",
        "i moved on to chapter two",
        "my new boss is annoying",
        "work at it every day",
        "I moved to vegetarian food after I met Tom",
        "where do i live",
    ],
)
def test_no_value_is_read(text: str) -> None:
    assert ENGLISH.stated(text) is None


def test_an_update_about_another_replaces() -> None:
    said = ["my sister lives in oslo", "my sister lives in bergen now"]
    assert ENGLISH.replacements(said) == {0: 1}


def test_an_update_replaces_what_a_full_sentence_said() -> None:
    older, newer = (ENGLISH.stated(t) for t in ("I live in Oslo.", "i moved to bergen last week"))
    assert older is not None
    assert newer is not None
    assert replaces(newer, older)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("started running last thursday", date(2026, 5, 14), date(2026, 5, 14)),
        ("adopted a dog 2 weeks ago", date(2026, 5, 3), date(2026, 5, 9)),
        ("i moved to bergen last week", date(2026, 5, 11), date(2026, 5, 17)),
    ],
)
def test_days_are_read_as_in_full_sentences(text: str, first: date, last: date) -> None:
    assert [(days.first, days.last) for days in ENGLISH.event_days(text, SAID_ON)] == [
        (first, last)
    ]
