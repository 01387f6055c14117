"""Dates in what people say: expressions in a text, the range of a question, the days of an event.

Pure functions; "today" is always an argument.
"""

from memory_store.time.event_dates import event_dates_of
from memory_store.time.expressions import time_expressions
from memory_store.time.question_range import time_range_of
from memory_store.time.types import Precision, Relation, TimeExpression, TimeRange

__all__ = [
    "Precision",
    "Relation",
    "TimeExpression",
    "TimeRange",
    "event_dates_of",
    "time_expressions",
    "time_range_of",
]
