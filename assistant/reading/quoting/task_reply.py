"""Short replies to what a front end asks for itself (a title, tags), where no language model is.

A title is how the chat begins. What cannot be had without a model is left empty, in the JSON form
that the request shows. Pure.
"""

import json
import re
from collections.abc import Sequence

from assistant.models.chat_model import Message

# The form of the reply, as a request shows it: an object with one text or one list.
_FORM = re.compile(r'\{\s*"(\w+)"\s*:\s*(["\[])')
# What the user said first in a chat that the request quotes.
_OPENING = re.compile(
    r"^[^\S\n]*(?:user|human)\s*:[ \t]*(\S.*)$|^[^\S\n]*\|\|>user:\s*\"?([^\"\n]+)", re.I | re.M
)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s|\n")
_MOST_WORDS = 6
_MOST_CHARACTERS = 60
NO_TITLE = "New chat"


def task_reply(request: str, conversation: Sequence[Message] = ()) -> str:
    """The reply to a front end's request: a title, or an object in the form that is asked for."""
    title = title_of(_opening(request, conversation))
    form = _FORM.search(request)
    if form is None:
        return title
    name, begins = form.groups()
    empty: str | list[str] = [] if begins == "[" else ""
    return json.dumps({name: title if name == "title" else empty}, ensure_ascii=False)


def title_of(text: str) -> str:
    """The first words of a text, of its first sentence only."""
    words = _SENTENCE_END.split(text.strip(), maxsplit=1)[0].split()
    title = " ".join(words[:_MOST_WORDS])[:_MOST_CHARACTERS].strip(" .,;:!?*#`")
    return title or NO_TITLE


def _opening(request: str, conversation: Sequence[Message]) -> str:
    """What the chat begins with: quoted in the request, or sent along before it."""
    if quoted := _OPENING.search(request):
        return quoted[1] or quoted[2]
    return next((message.content for message in conversation if message.role == "user"), "")
