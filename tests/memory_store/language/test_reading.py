"""What a message may be: read, kept in plain values, and read back."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory_store import Record, Round, reading_of
from memory_store._points import from_payload, to_point
from memory_store.language import (
    ENGLISH,
    PLAIN,
    Kind,
    Language,
    Reading,
    Sentence,
)
from memory_store.language.reading import VERSION, reading_from

ROUND = Round("ann", "s", 0, datetime(2023, 6, 1, tzinfo=UTC), "I live in Ghent.")
TEXTS = [
    "",
    " ",
    "hi",
    "I live in Ghent.",
    "  where do i live\n",
    "I moved to Lyon, where can I swim?",
    "Thanks! I like tea. I like tea.\n\nWhat else do I like?",
    "我住在波恩。你好！",
    "😀 \ud800 x",
]


def kept(reading: Reading) -> Reading | None:
    """The reading as it comes back from a store."""
    return reading_from(json.loads(json.dumps(reading.to_plain())), reading.text)


@pytest.mark.parametrize("language", [ENGLISH, PLAIN], ids=lambda language: language.name)
@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_it_is_kept_in_plain_values_and_read_back(text: str, language: Language) -> None:
    reading = language.read(text)
    again = kept(reading)
    assert again is not None
    assert again.text == text
    assert again.kinds == pytest.approx(dict(reading.kinds), abs=0.021)
    assert [one.text for one in again.sentences] == [one.text for one in reading.sentences]
    for one, before in zip(again.sentences, reading.sentences, strict=True):
        assert one.kind is before.kind
        for name in ("telling", "asking", "instructing"):
            assert getattr(one, name) == pytest.approx(getattr(before, name), abs=0.006)


def test_of_the_text_no_word_is_kept_twice() -> None:
    plain = ENGLISH.read("I live in Ghent. Where do I live?").to_plain()
    assert plain is not None
    assert plain["version"] == VERSION
    assert "Ghent" not in json.dumps(plain)
    assert [place[:2] for place in plain["sentences"]] == [[0, 16], [17, 16]]


def test_a_sentence_that_was_wrapped_cannot_be_kept() -> None:
    text = "I moved\nto Ghent."
    reading = Reading(text, ENGLISH.read(text).kinds, (Sentence("I moved to Ghent."),))
    assert reading.to_plain() is None


@pytest.mark.parametrize("plain", [None, {}, {"version": VERSION + 1}, {"version": 0}])
def test_what_another_version_read_is_read_anew(plain: dict[str, object] | None) -> None:
    assert reading_from(plain, "I live in Ghent.") is None


def test_the_reading_of_another_text_is_not_used() -> None:
    stale = replace(ROUND, reading=ENGLISH.read("where do I live"))
    assert reading_of(stale).text == ROUND.user_text
    assert reading_of(stale).kind is Kind.TELLS
    assert "reading" not in to_point(Record(stale), []).payload


def test_a_round_is_kept_with_its_reading() -> None:
    said = replace(ROUND, reading=ENGLISH.read(ROUND.user_text))
    found = from_payload(to_point(Record(said), []).payload)
    assert found.round.reading == kept(ENGLISH.read(ROUND.user_text))
    assert reading_of(found.round) is found.round.reading
    unread = from_payload(to_point(Record(ROUND), []).payload)
    assert unread.round.reading is None
    assert reading_of(unread.round) == ENGLISH.read(ROUND.user_text)


@pytest.mark.parametrize(
    ("text", "tells", "asks"),
    [
        ("I moved to Ghent in March.", True, False),
        ("My cat is called Miso. She likes fish.", True, False),
        ("Where do I live?", False, True),
        ("what should i cook tonight", False, True),
        ("I moved to Lyon, where can I swim?", True, True),
        ("I moved to Lyon. Where can I swim?", True, True),
        ("My dog is called Rex. And what was the name of my cat?", True, True),
        ("hello there", False, False),
    ],
)
def test_it_may_tell_and_ask_at_once(text: str, tells: bool, asks: bool) -> None:
    reading = ENGLISH.read(text)
    assert (reading.telling >= 0.5) is tells
    assert (reading.asking >= 0.5) is asks


def test_of_each_sentence_it_is_known_whether_it_tells_or_asks() -> None:
    told, asked = ENGLISH.read("My dog is called Rex. And what was the name of my cat?").sentences
    assert told.telling >= 0.5 > told.only_asks
    assert (asked.telling >= 0.5, asked.only_asks >= 0.5) == (False, True)
    assert [one.is_polite for one in ENGLISH.read("Thanks! I like tea.").sentences] == [True, False]


@pytest.mark.parametrize(
    ("text", "corrects"),
    [
        ("Sorry, I got that wrong, it leaves on Friday.", True),
        ("Actually no, I live in Oslo.", True),
        ("I live in Oslo.", False),
    ],
)
def test_a_correction_is_known(text: str, corrects: bool) -> None:
    assert (ENGLISH.read(text).corrects >= 0.5) is corrects


def test_far_in_a_long_text_a_sentence_is_taken_to_tell() -> None:
    sentences = ENGLISH.read("Where is my bike?\n" * 100).sentences
    assert len(sentences) == 100
    assert sentences[63].only_asks > 0.5
    assert [one.telling for one in sentences[64:]] == [1.0] * 36


@pytest.mark.parametrize(
    ("text", "is_idle"),
    [
        ("Sounds good, thanks!", True),
        ("perfect", True),
        ("Thank you so much!", True),
        ("haha", True),
        ("Thanks! My flight is on Friday.", False),
        ("Bo", False),
        ("good morning, is the shop open?", False),
        ("", False),
    ],
)
def test_thanks_and_small_talk_are_idle_where_nothing_else_is_said(
    text: str, is_idle: bool
) -> None:
    assert ENGLISH.read(text).is_idle is is_idle
