"""A key-value memory of dated rounds: many keys lead to one verbatim value.

Knows users, sessions, rounds, keys and dates; no HTTP, no chat, no language model. What is public
stands here, and in `language`, `embedding`, `engines`, `recall`, `transfer`, `errors` and
`scheduler`.
"""

from memory_store.changes.correction import Corrected, Correction, GivenFact
from memory_store.changes.extraction import Extraction, as_stated
from memory_store.changes.forgetting import Forgotten, RetentionRule
from memory_store.changes.validity import Conflict, Step, Told, superseded_parts
from memory_store.changes.writing import CORRECTION
from memory_store.disk import require_place
from memory_store.documents import NONE, Document, Documents
from memory_store.facts import only_asks, own_sentences, reading_of, rule_facts
from memory_store.keys import KeyDesign, KeyKind, windows
from memory_store.labels import Labels, Where, checked_labels, holds, where
from memory_store.listing import LONGEST_TITLE, Listing, Page, Place, as_title, summarise_session
from memory_store.recall.query import (
    Query,
    Reason,
    Recall,
    Recalled,
    RecalledSession,
    RecallSettings,
)
from memory_store.recall.ranking import Weights
from memory_store.spans import Precision, TimeRange, TimeUse
from memory_store.store import MemoryStore
from memory_store.types import (
    Days,
    EnrichmentFailure,
    EnrichmentState,
    Fact,
    FactLink,
    Held,
    Record,
    Round,
    SessionSummary,
    Speaker,
    Whose,
    owner_of,
    round_id,
    whose,
)

__all__ = [
    "CORRECTION",
    "LONGEST_TITLE",
    "NONE",
    "Conflict",
    "Corrected",
    "Correction",
    "Days",
    "Document",
    "Documents",
    "EnrichmentFailure",
    "EnrichmentState",
    "Extraction",
    "Fact",
    "FactLink",
    "Forgotten",
    "GivenFact",
    "Held",
    "KeyDesign",
    "KeyKind",
    "Labels",
    "Listing",
    "MemoryStore",
    "Page",
    "Place",
    "Precision",
    "Query",
    "Reason",
    "Recall",
    "RecallSettings",
    "Recalled",
    "RecalledSession",
    "Record",
    "RetentionRule",
    "Round",
    "SessionSummary",
    "Speaker",
    "Step",
    "TimeRange",
    "TimeUse",
    "Told",
    "Weights",
    "Where",
    "Whose",
    "as_stated",
    "as_title",
    "checked_labels",
    "holds",
    "only_asks",
    "own_sentences",
    "owner_of",
    "reading_of",
    "require_place",
    "round_id",
    "rule_facts",
    "summarise_session",
    "superseded_parts",
    "where",
    "whose",
    "windows",
]
