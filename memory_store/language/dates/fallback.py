"""dateparser, for dates in forms that the grammar does not know; the only module that imports it.

dateparser reads "may", "sat", "second", "we" and "now" as dates. It is shown only stretches that
hold a number beside the name of a month, or a number before "ago", and must give back as much.
It takes 20 ms for each, so that only the first of a text are tried.
"""

import re
import threading
from datetime import date, datetime, time
from itertools import islice

from memory_store.language.dates.pack import split
from memory_store.language.word_lists import word_table
from memory_store.time.calendar import month_of, one_day, week_of, year_of
from memory_store.time.types import Span

_NAMES = split("|".join(word_table("english", "days")["months"]))
_NAME = "(?:" + "|".join(sorted(map(str.capitalize, _NAMES), key=len, reverse=True)) + r")\b\.?"
# Longer words and stretches are no dates.
_CANDIDATE = re.compile(
    rf"\b\d\w{{0,9}}[\s-]+{_NAME}(?:[\s,'-]{{1,3}}\d\w{{0,9}})?|\b{_NAME}(?:[\s,'-]{{1,3}}\d\w{{0,9}}){{1,2}}"
    r"|\b\d{1,4}\s?(?:d|w|mo|m|y|yr)s?\s+ago\b"
)
_MOST_CANDIDATES = 16
# It keeps settings and languages for all calls, and texts are read in more than one thread.
_one_at_a_time = threading.Lock()
# Days of a long life: what lies further back, or a sixth of it ahead, is no date of a talk.
_LIFE = 45_000
_SPAN_OF = {"week": week_of, "month": month_of, "year": year_of, "day": one_day}


def search_rest(text: str, today: date) -> list[tuple[int, int, Span]]:
    """Start, end and days of what dateparser finds in text the grammar left over."""
    candidates = list(islice(_CANDIDATE.finditer(text), _MOST_CANDIDATES))
    if not candidates:
        return []
    from dateparser.search import search_dates  # 0.1 s, and few texts need it

    base = {"RELATIVE_BASE": datetime.combine(today, time(12)), "PREFER_DATES_FROM": "past"}
    settings = base | {"RETURN_AS_TIMEZONE_AWARE": False}
    found = []
    for candidate in candidates:
        with _one_at_a_time:
            hits = search_dates(candidate[0], languages=["en"], settings=settings, add_period=True)
        for words, moment, period in hits or []:
            day = moment.date()
            named = any(map(str.isdecimal, words)) and any(map(str.isalpha, words))
            if named and period != "time" and -_LIFE < (day - today).days < _LIFE // 6:
                start = candidate.start() + max(0, candidate[0].find(words))
                found.append((start, start + len(words), _SPAN_OF.get(period, one_day)(day)))
    return found
