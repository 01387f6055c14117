"""Dates in English text: expressions, the range a question asks about, the days of an event.

Pure functions; "today" is always an argument.
"""

from memory_store.language.english.time.expressions import (
    counted_days_of,
    event_dates_of,
    time_expressions,
)
from memory_store.language.english.time.question_range import time_range_of

__all__ = ["counted_days_of", "event_dates_of", "time_expressions", "time_range_of"]
