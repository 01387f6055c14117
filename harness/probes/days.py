"""Whether a text names a day, in any usual notation."""

import re
from datetime import date

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
YEAR = re.compile(r"\b(?:19|20)\d\d\b")


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
