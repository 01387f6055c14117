"""Dates in text: expressions, the range a question asks about, the days of an event.

One engine reads all languages, each by the words of its file. Pure functions; "today" is always an
argument.
"""

from memory_store.language.dates.questions import time_range, time_range_of
from memory_store.language.dates.reading import (
    counted_days_of,
    event_dates_of,
    event_days,
    time_expressions,
)

__all__ = [
    "counted_days_of",
    "event_dates_of",
    "event_days",
    "time_expressions",
    "time_range",
    "time_range_of",
]
