"""Spans of days: the nouns that every language's reading of dates ends in, and their arithmetic.

Pure functions; "today" is always an argument. How people name days is a matter of language:
`memory_store/language/`.
"""

from memory_store.time.types import Precision, Relation, TimeExpression, TimeRange, TimeUse

__all__ = ["Precision", "Relation", "TimeExpression", "TimeRange", "TimeUse"]
