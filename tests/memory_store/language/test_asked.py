"""What a question asks for, told by its turns of phrase."""

from dataclasses import fields
from datetime import date

import pytest

from memory_store import Days
from memory_store.language import ENGLISH, PLAIN, Asked
from memory_store.language.asked import asked_in

TODAY = date(2023, 6, 10)
MAY = Days(date(2023, 5, 1), date(2023, 5, 31))

# question → what it asks for
ASKED = {
    "Please note the following text and summarize it.": "impersonal",
    "Please remember that I live in Ghent and list my addresses.": "",
    "Note that I moved, and then tell me my old address": "",
    "Remember what I told you?": "",
    "Please remember where I left my bike": "",
    "Please remember that I moved. Where did I live before": "about_time",
    "What is my cat called?": "",
    "Tell me the name of my cat": "",
    "Tell me everyone I have gone out with this year.": "",
    "List all the places we considered.": "counts",
    "Sum up what we decided": "overview",
    "in which order did i tell you about my trips": "overview orders about_time",
    "Summarize this article on rivers.": "impersonal",
    "Please summarise how my garden came along over the year.": "overview",
    "Can you give me an overview of everything we talked about?": "overview",
    "Give me a recap of what you said about my garden.": "overview about_replies",
    "In what order did I bring plants up in our chats?": "orders overview about_time",
    "List all my trips in the order I mentioned them": "counts orders overview about_time",
    "On which date did I fly?": "about_time",
    "What was the exact date of the concert?": "about_time impersonal",
    "What could a dentist do, according to you?": "about_replies",
    "Which name did you come up with?": "about_replies",
    "I was wondering where I left my bike": "",
    "what colour is my bicycle": "",
    "Is my cat vegan?": "",
    "How many bikes do I own?": "counts",
    "How much did I spend in total?": "counts",
    "How many days ago did I adopt Miso?": "about_time",
    "How long did the trip take?": "about_time impersonal",
    "When did I run in Ghent?": "about_time",
    "Which did I buy first, the bike or the car?": "about_time",
    "In which order did I visit Ghent and Bruges?": "orders about_time",
    "What is the order of my three trips?": "orders about_time",
    "List my trips in chronological order": "orders about_time",
    "What was my first order from the bakery?": "about_time",
    "What did I do in order to save money?": "about_time",
    "Can you recommend a hotel for my trip?": "wants_advice",
    "Which hotel did you recommend for Ghent?": "about_replies",
    "In our last chat you listed five films. Which was the third?": "about_replies about_time",
    "Remind me what the third film was.": "about_replies",
    "What do you know about me?": "about_user",
    "Tell me everything about myself": "about_user",
    "What did Clara say about me?": "",
    "Do you know what Clara told him about me?": "",
    "What is the capital of France?": "impersonal",
    "Who wrote the Communist Manifesto?": "impersonal",
    "How do I unblock a sink?": "impersonal",
    "Can you explain how tides work?": "impersonal",
    "Give me three synonyms for tired.": "impersonal",
    "Name two rivers in Spain.": "impersonal",
    "How do I take my coffee?": "",
    "How do you know when I run?": "about_time",
    "Give me the recipe you wrote.": "about_replies",
    "Name the places I like.": "",
    "Will it rain where I live?": "",
    "Was ist die Hauptstadt von Frankreich?": "",
    "Capitale?": "",
}


@pytest.mark.parametrize(("text", "names"), ASKED.items())
def test_what_is_asked_for(text: str, names: str) -> None:
    asked = asked_in(text)
    held = {field.name for field in fields(Asked) if getattr(asked, field.name)}
    assert held == set(names.split())


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
    assert ENGLISH.asked(text, None).overview
    assert PLAIN.asked(text, None).overview


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
    assert not ENGLISH.asked(text, None).overview


def test_what_an_overview_is_told_by() -> None:
    assert asked_in("in the order of their age").orders
    assert not asked_in("in order to save money").orders
    assert asked_in("what did we discuss in our last session?").about_replies
    assert not asked_in("what did I do last month?").about_replies


def test_other_languages_have_no_turns_of_phrase() -> None:
    text = "Kannst du zusammenfassen, was ich über my garden erzählt habe?"
    assert PLAIN.asked(text, None) == Asked()


@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        ("What did I do last month?", True),
        ("what happened in May", True),
        ("In May, what did we talk about?", True),
        ("What have I been up to in May?", True),
        ("So what did I tell you in May?", True),
        ("Did anything happen in May?", True),
        ("Summarize what happened in May.", True),
        ("What about last month?", True),
        ("and in May?", True),
        ("last month?", True),
        ("tell me about last month", True),
        ("what happened between 1 and 31 may", True),
        ("Please tell me what I did in May", False),
        ("What did I buy in May?", False),
        ("What did I do in Ghent in May?", False),
        ("What did Clara do in May?", False),
        ("What did I do?", False),
    ],
)
def test_a_question_of_a_time_alone(text: str, is_alone: bool) -> None:
    asked = ENGLISH.asked(text, TODAY)
    assert asked.days == (MAY if is_alone else None)
    assert (asked.time_range is None) is (text == "What did I do?")
    assert ENGLISH.asked(text, None).days is None


def test_days_that_a_model_reads_stand_in_place_of_those_of_rules() -> None:
    text = "What did I do last month?"
    asked = ENGLISH.asked(text, TODAY)
    assert asked.within(None, text).days is None
    assert asked_in(text).within(asked.time_range, text).days == MAY


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("Where do I live?", "live in"),
        ("How many bikes do I own?", "own bike"),
        ("Where did I eat?", None),
    ],
)
def test_the_slot_that_is_asked_for(text: str, slot: str | None) -> None:
    assert ENGLISH.asked(text, TODAY).slot == slot
    assert PLAIN.asked(text, TODAY).slot is None
