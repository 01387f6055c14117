"""Dates in text: the range a question asks about, the days of an event.

One grammar reads all languages, each with the words of its file. All functions are pure; "today" is
always an argument.
"""

from memory_store.language.dates.pack import Pack, pack_of
from memory_store.language.dates.questions import time_range
from memory_store.language.dates.reading import (
    counted_days,
    event_days,
    expression_at,
    pack_for,
    picked_weekdays,
)

__all__ = [
    "Pack",
    "counted_days",
    "event_days",
    "expression_at",
    "pack_for",
    "pack_of",
    "picked_weekdays",
    "time_range",
]
