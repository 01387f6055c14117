"""From a query to ranked rounds and sessions: shared by every engine, so that all rank alike."""

from memory_store.recall._ranking import Posting, bm25, term_weights
from memory_store.recall._speakers import named_speakers, speakers_of, without_names

__all__ = [
    "Posting",
    "bm25",
    "named_speakers",
    "speakers_of",
    "term_weights",
    "without_names",
]
