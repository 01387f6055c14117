"""dateparser, for dates in forms that the grammar does not know; the only module that imports it.

dateparser reads "may", "sat", "second", "we" and "now" as dates. It is shown only stretches that
hold a number beside a month or weekday name, or a number before "ago", and must give back as much.
It takes 20 ms for each, so that only the first of a text are tried.
"""

import re
import threading
from datetime import date, datetime, time
from itertools import islice
from typing import Any

from memory_store.language.word_lists import word_table
from memory_store.time.calendar import add_months, month_of, one_day, week_of, year_of
from memory_store.time.types import Span

_DAYS = word_table("english", "days")
_NAMES = "|".join([*_DAYS["months"], *_DAYS["weekdays"]]).split("|")
_CAPITALS = str(_DAYS["with_capital"]).split()
_FULL = "|".join(name for name in _NAMES if name not in _CAPITALS)
_SHORT = "|".join(sorted(map(str.capitalize, _CAPITALS), key=len, reverse=True))
_NAME = rf"\b(?:{_FULL}|(?-i:{_SHORT})\b(?:\.(?=\s*(?-i:[\da-z])))?)(?!\w)"
# A longer word is no number of a day or a year, and a longer stretch no date.
_REST = "[\\w,.]{0,30}"
_LONGEST = 100
_CANDIDATE = re.compile(
    rf"(?:\b\d{_REST}[\s-]+(?:of\s+)?{_NAME}[\s,'-]*\d[\w,]*|{_NAME}[\s,'-]*\d[\w,]*"
    r"(?:[\s,'-]*\d{2,4}\b)?"
    rf"|\b\d[\w]*[\s-]+(?:of\s+)?{_NAME}|\b\d+\s*(?:d|w|mo|m|y|yr|hr)s?\s+ago\b)",
    re.I,
)
_MOST_CANDIDATES = 16
# It keeps settings and languages for all calls, and texts are read in more than one thread.
_one_at_a_time = threading.Lock()
_STOP = re.compile(r"(?:may|march|sat|sun|second|we|now|mar|dec|mon|a|an|[\d\s.,'-]+)", re.I)
_SPAN_OF = {"week": week_of, "month": month_of, "year": year_of, "day": one_day}


def _settings(today: date) -> dict[str, Any]:
    return {
        "RELATIVE_BASE": datetime.combine(today, time(12)),
        "PREFER_DATES_FROM": "past",
        "RETURN_AS_TIMEZONE_AWARE": False,
    }


def search_rest(text: str, today: date) -> list[tuple[int, int, Span]]:
    """Start, end and days of what dateparser finds in text the grammar left over."""
    short = (found for found in _CANDIDATE.finditer(text) if len(found[0]) <= _LONGEST)
    candidates = list(islice(short, _MOST_CANDIDATES))
    if not candidates:
        return []
    from dateparser.search import search_dates  # 0.1 s, and few texts need it

    found = []
    for candidate in candidates:
        with _one_at_a_time:
            hits = search_dates(
                candidate[0], languages=["en"], settings=_settings(today), add_period=True
            )
        for words, moment, period in hits or []:
            span = _sane(words, moment.date(), period, today)
            if span is not None:
                start = candidate.start() + max(0, candidate[0].find(words))
                found.append((start, start + len(words), span))
    return found


def _sane(words: str, day: date, period: str, today: date) -> Span | None:
    """The span of a hit, unless its words are no date or its day is out of any plausible life."""
    if _STOP.fullmatch(words.strip()) or not re.search(r"\d", words):
        return None
    if not add_months(today, -1500) <= day <= add_months(today, 240):
        return None
    if period == "time":
        return None
    return _SPAN_OF.get(period, one_day)(day)
