"""A key-value memory of dated rounds: many keys lead to one verbatim value.

Knows users, sessions, rounds, keys and dates; no HTTP, no chat, no language model. What is public
stands here, and in `language`, `embedding`, `engines`, `recall`, `transfer`, `errors` and
`scheduler`.
"""

from memory_store._changes.correction import Corrected, Correction, GivenFact
from memory_store._changes.extraction import Extraction, as_stated
from memory_store._changes.forgetting import Forgotten, RetentionRule
from memory_store._changes.validity import Conflict, Step, Told, standing_on, superseded_parts
from memory_store._changes.writing import CORRECTION
from memory_store._disk import require_place
from memory_store._documents import NONE, Document, Documents
from memory_store._facts import is_quoting, only_asks, reading_of, rule_facts
from memory_store._health import Checkup, FactHealth, Finding
from memory_store._keys import KeyDesign, KeyKind, windows
from memory_store._labels import Labels, Where, checked_labels, holds, where
from memory_store._listing import LONGEST_TITLE, Listing, Page, as_title, summarise_session
from memory_store._member import MemberMemory, is_anothers
from memory_store._owners import (
    Whose,
    beside,
    is_beside,
    is_shared,
    names_shared,
    owner_of,
    roster_of,
    shared_owner,
    whose,
)
from memory_store._reach import Reach, ReachRule, closest
from memory_store._reader import MemoryReader
from memory_store._spans import Precision, TimeRange, TimeUse
from memory_store._stated import StatedMemory
from memory_store._store import MemoryStore
from memory_store._types import (
    CONDITION,
    Condition,
    Days,
    EnrichmentFailure,
    EnrichmentState,
    Fact,
    FactLink,
    Held,
    Place,
    Record,
    Round,
    SessionSummary,
    Speaker,
    in_zone,
    round_id,
)
from memory_store.recall._query import (
    Query,
    Reason,
    Recall,
    Recalled,
    RecalledSession,
    RecallSettings,
    Weights,
)

__all__ = [
    "CONDITION",
    "CORRECTION",
    "LONGEST_TITLE",
    "NONE",
    "Checkup",
    "Condition",
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
    "FactHealth",
    "FactLink",
    "Finding",
    "Forgotten",
    "GivenFact",
    "Held",
    "KeyDesign",
    "KeyKind",
    "Labels",
    "Listing",
    "MemberMemory",
    "MemoryReader",
    "MemoryStore",
    "Page",
    "Place",
    "Precision",
    "Query",
    "Reach",
    "ReachRule",
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
    "StatedMemory",
    "Step",
    "TimeRange",
    "TimeUse",
    "Told",
    "Weights",
    "Where",
    "Whose",
    "as_stated",
    "as_title",
    "beside",
    "checked_labels",
    "closest",
    "holds",
    "in_zone",
    "is_anothers",
    "is_beside",
    "is_quoting",
    "is_shared",
    "names_shared",
    "only_asks",
    "owner_of",
    "reading_of",
    "require_place",
    "roster_of",
    "round_id",
    "rule_facts",
    "shared_owner",
    "standing_on",
    "summarise_session",
    "superseded_parts",
    "where",
    "whose",
    "windows",
]
