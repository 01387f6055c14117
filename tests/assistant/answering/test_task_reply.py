"""Replies to a front end's own requests, without a language model."""

import pytest

from assistant.answering.wording import NO_TITLE, task_reply, title_of
from assistant.models.chat_model import Message

CHAT = "USER: I moved to Bruges. Where do I swim?\nASSISTANT: In the canal?\nUSER: No.\n"


@pytest.mark.parametrize(
    ("request_text", "reply"),
    [
        (f"A title, please.\n{CHAT}", "I moved to Bruges"),
        ("A title.\n\nConversation:\nUser: Hallo, schöne Grüße\nAI: Hallo", "Hallo, schöne Grüße"),
        (f'As {{ "title": "…" }}.\n<chat_history>\n{CHAT}', '{"title": "I moved to Bruges"}'),
        (f'As {{"tags": ["a", "b"]}}.\n{CHAT}', '{"tags": []}'),
        (f'As {{ "follow_ups": ["a?"] }}.\n{CHAT}', '{"follow_ups": []}'),
        ('As { "text": "…" }.', '{"text": ""}'),
        ('As { "title": "…" }.\nUSER: Say “hi”', '{"title": "Say “hi”"}'),
        ('||>User:\n"I swam. Twice!"\n||>Response:\n"Where?"', "I swam"),
        ("Which tags?", NO_TITLE),
    ],
)
def test_a_reply_has_the_form_asked_for(request_text: str, reply: str) -> None:
    assert task_reply(request_text) == reply


def test_a_chat_sent_along_gives_its_title() -> None:
    conversation = [Message("system", "Be brief."), Message("user", "My cat is ill!")]
    assert task_reply("Give this chat a title.", conversation) == "My cat is ill"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("one two three four five six seven eight", "one two three four five six"),
        ("## Plans for *Ghent*\nand more", "Plans for *Ghent"),
        ("Version 3.5 of it, please", "Version 3.5 of it, please"),
        ("字" * 200, "字" * 60),
        ("???", NO_TITLE),
        ("", NO_TITLE),
    ],
)
def test_a_title_is_how_a_text_begins(text: str, title: str) -> None:
    assert title_of(text) == title
