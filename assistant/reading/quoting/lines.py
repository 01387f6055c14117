"""Quotes as lines: who said it on which day, and what has to be added. Pure."""

import re
from collections.abc import Sequence
from datetime import date

from assistant.dates import print_day
from assistant.reading.excerpt import shortened
from assistant.reading.question_kind import QuestionKind
from assistant.reading.quoting.chosen import parts_gone
from assistant.reading.quoting.phrases import OPENING
from assistant.reading.statements import Statement
from memory_store import Speaker

_LONGEST_QUOTE = 400


def print_quotes(quotes: Sequence[Statement], kind: QuestionKind, opening: str = OPENING) -> str:
    """A line of opening, and one for each quote."""
    lines = [opening]
    for quote in quotes:
        who = _who(quote)
        day = print_day(quote.source.record.round.session_date)
        when = _day_meant(quote) if kind.about_time else ""
        said = shortened(quote.quotable, _LONGEST_QUOTE)
        lines.append(f"- On {day} {who} said: “{said}”{when}{_until(quote)}")
    return "\n".join(lines)


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
    """Says of what no longer holds since when it does not."""
    if newer := quote.superseded_by:
        return f" (no longer: see {print_day(newer.said_at)})"
    gone = {part.text.rstrip("."): part.superseded_by for part in parts_gone(quote)}
    seen = (f"“{text}”: see {print_day(link.said_at)}" for text, link in gone.items() if link)
    return f" (no longer {', '.join(seen)})" if gone else ""
