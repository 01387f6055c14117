"""How texts are measured and written, everywhere in the harness alike.

Tokens that nobody counted are four characters each.
"""

import re
from datetime import UTC, date, datetime

CHARACTERS_A_TOKEN = 4
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def tokens_of(characters: int) -> int:
    """Whole tokens of so many characters."""
    return characters // CHARACTERS_A_TOKEN


def tokens_at_least_one(characters: int) -> int:
    """The same for something that is sent, which is never nothing."""
    return max(1, tokens_of(characters))


def characters_of(tokens: int) -> int:
    """How many characters so many tokens hold."""
    return tokens * CHARACTERS_A_TOKEN


def encodable(text: str) -> str:
    """The text with every lone surrogate (half of a cut emoji) replaced by a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def beginning(text: str, length: int = 160) -> str:
    """As much of a text as it takes to recognize it, on one line."""
    return " ".join(text[: 2 * length].split())[:length]


def rfc3339(moment: datetime) -> str:
    """An instant as the wire wants it, in UTC with whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def names_day(text: str, day: date, *, with_year: bool = True) -> bool:
    """Whether a date of this year, month and day occurs. Without `with_year`, month and day are
    enough where the text names no year at all.
    """
    text = text.lower()
    if re.search(rf"\b{day.year}[-/.]0?{day.month}[-/.]0?{day.day}(?!\d)", text):
        return True
    if re.search(rf"\b0?{day.day}[-/.]0?{day.month}[-/.]{day.year}\b", text):
        return True
    if re.search(rf"\b0?{day.month}[-/.]0?{day.day}[-/.]{day.year}\b", text):
        return True
    month = rf"{_MONTHS[day.month - 1]}[a-z]*\.?"
    number = rf"0?{day.day}(?:st|nd|rd|th)?"
    either = rf"(?:\b{number}\s+(?:of\s+)?{month}|\b{month}\s+(?:the\s+)?{number})\b"
    if not re.search(either, text):
        return False
    years = YEAR.findall(text)
    return str(day.year) in years or not (with_year or years)
