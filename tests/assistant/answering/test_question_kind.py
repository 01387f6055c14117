"""What a message asks for, told by its words."""

from dataclasses import fields

import pytest

from assistant.answering.question_kind import QuestionKind, question_kind

# message → the kinds that hold
KINDS = {
    "I adopted a cat called Miso last Tuesday.": "",
    "My sister moved to Porto. She likes it there!": "",
    "Thanks, that helps a lot.": "",
    "Please remember that my locker is number 12.": "",
    "Also, please note: I am allergic to nuts.": "",
    "Don't forget I moved to Porto": "",
    "Please remember that I can swim and could dive.": "",
    "Please note that I read and write every day.": "",
    "Please note the following text and summarize it.": "asks",
    "Please remember that I live in Ghent and list my addresses.": "asks",
    "Note that I moved, and then tell me my old address": "asks",
    "Remember what I told you?": "asks",
    "Please remember where I left my bike": "asks",
    "Please remember that I moved. Where did I live before": "asks about_time",
    "What is my cat called?": "asks",
    "Tell me the name of my cat": "asks",
    "Tell me everyone I have gone out with this year.": "asks",
    "List all the places we considered.": "asks counts",
    "List price is 40, we paid 30.": "",
    "Sum up what we decided": "asks overview",
    "in which order did i tell you about my trips": "asks overview orders about_time",
    "Summarize this article on rivers.": "asks",
    "Please summarise how my garden came along over the year.": "asks overview",
    "Can you give me an overview of everything we talked about?": "asks overview yes_no",
    "Give me a recap of what you said about my garden.": "asks overview about_replies",
    "In what order did I bring plants up in our chats?": "asks orders overview about_time",
    "List all my trips in the order I mentioned them": "asks counts orders overview about_time",
    "On which date did I fly?": "asks about_time",
    "What was the exact date of the concert?": "asks about_time",
    "What could a dentist do, according to you?": "asks about_replies",
    "Which name did you come up with?": "asks about_replies",
    "I was wondering where I left my bike": "asks",
    "what colour is my bicycle": "asks",
    "Is my cat vegan?": "asks yes_no",
    "How many bikes do I own?": "asks counts",
    "How much did I spend in total?": "asks counts",
    "How many days ago did I adopt Miso?": "asks spans about_time",
    "How long did the trip take?": "asks spans about_time",
    "When did I run in Ghent?": "asks about_time",
    "Which did I buy first, the bike or the car?": "asks about_time",
    "In which order did I visit Ghent and Bruges?": "asks orders about_time",
    "What is the order of my three trips?": "asks orders about_time",
    "List my trips in chronological order": "asks orders about_time",
    "What was my first order from the bakery?": "asks about_time",
    "What did I do in order to save money?": "asks about_time",
    "Can you recommend a hotel for my trip?": "asks wants_suggestion yes_no",
    "Which hotel did you recommend for Ghent?": "asks about_replies wants_suggestion",
    "In our last chat you listed five films. Which was the third?": "asks about_replies about_time",
    "Remind me what the third film was.": "asks about_replies",
    "What do you know about me?": "asks about_user",
    "Tell me everything about myself": "asks about_user",
    "What did Clara say about me?": "asks",
    "Do you know what Clara told him about me?": "asks yes_no",
}


@pytest.mark.parametrize(("text", "names"), KINDS.items())
def test_kinds(text: str, names: str) -> None:
    kind = question_kind(text)
    held = {field.name for field in fields(QuestionKind) if getattr(kind, field.name)}
    assert held == set(names.split())
