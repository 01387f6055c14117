"""How answers without a model are worded: fixed phrases, quotes as lines, replies to front ends.

A front end may ask for a title or tags of a chat. The title is the beginning of the chat; what only
a model could give is left empty, in the JSON form that the request shows.
"""

import json
import re
from collections.abc import Collection, Sequence
from datetime import date

from assistant.answering.layouts import days_with_times
from assistant.answering.packing import shortened
from assistant.answering.phrases import OPENING
from assistant.answering.statements import Statement, parts_gone
from assistant.dates import print_day
from assistant.models.chat_model import Message
from memory_store import CONDITION, FactLink, Speaker
from memory_store.language import Asked

_LONGEST_QUOTE = 400


def print_quotes(quotes: Sequence[Statement], kind: Asked, opening: str = OPENING) -> str:
    """An opening line, and a line for each quote. Where several sessions of a day are quoted and
    their time zone is known, the lines also give the time."""
    rounds = (quote.source.record.round for quote in quotes)
    timed = days_with_times(one for one in rounds if one.session_date.utcoffset())
    return "\n".join([opening, *(quote_line(quote, kind, timed) for quote in quotes)])


def quote_line(quote: Statement, kind: Asked, timed: Collection[date] = ()) -> str:
    """The line of one quote: when it was said, by whom, and since when it no longer holds."""
    said_at = quote.source.record.round.session_date
    day = print_day(said_at) + (f" at {said_at:%H:%M}" if said_at.date() in timed else "")
    when = _day_meant(quote) if kind.about_time else ""
    # The lines of a list stay lines, within the item of the quote.
    said = shortened(quote.quotable, _LONGEST_QUOTE).replace("\n", "\n  ")
    return f"- On {day} {_who(quote)} said: “{said}”{when}{_until(quote)}"


def _who(quote: Statement) -> str:
    if quote.speaker is Speaker.QUOTED:
        return f"a text that {quote.said_by or 'you'} sent"
    return quote.said_by or ("you" if quote.speaker is Speaker.USER else "I")


def _day_meant(quote: Statement) -> str:
    """Says which day "yesterday" or "12 June next year" was meant to be."""
    day = quote.quoted_day
    if day is None or day == quote.said_on or _names(quote.quotable, day):
        return ""
    return f" (that is {day:%a %Y-%m-%d})"


def _names(text: str, day: date) -> bool:
    """Whether the text says the date itself; that of "next year" is still to be worked out."""
    dated = re.search(rf"\b(?:{day:%B}|{day:%b})\b|\d[-/]\d", text, re.I)
    return dated is not None and not re.search(r"\byear\b", text, re.I)


def _until(quote: Statement) -> str:
    """For a quote that no longer holds, what replaced it and when, or until when it held."""
    if newer := quote.superseded_by:
        if newer.by == CONDITION:
            return f" (held until {print_day(newer.said_at)})"
        return f" (no longer: {_replacement(newer)})"
    gone = {part.text.rstrip("."): part.superseded_by for part in parts_gone(quote)}
    seen = (f"“{text}”: {_replacement(link)}" for text, link in gone.items() if link)
    return f" (no longer {', '.join(seen)})" if gone else ""


_LONGEST_REPLACEMENT = 80


def _replacement(link: FactLink) -> str:
    if link.by == CONDITION:
        return f"held until {print_day(link.said_at)}"
    said = shortened(link.text, _LONGEST_REPLACEMENT)
    return f"“{said}”, see {print_day(link.said_at)}"


# The form of the reply, as a request shows it: an object with one text or one list.
_FORM = re.compile(r'\{\s*"(\w+)"\s*:\s*(["\[])')
# The user's first message in a chat that the request quotes.
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
    """The beginning of the chat: quoted in the request, or sent along before it."""
    if quoted := _OPENING.search(request):
        return quoted[1] or quoted[2]
    return next((message.content for message in conversation if message.role == "user"), "")
