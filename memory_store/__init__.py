"""A key-value memory of dated rounds: many keys lead to one verbatim value.

Knows users, sessions, rounds, keys and dates; no HTTP, no chat, no language model. What is public
stands here, and in `language`, `embedding`, `engines`, `recall`, `transfer`, `errors` and
`scheduler`.
"""

from memory_store.changes.correction import (
    Corrected,
    Correction,
    GivenFact,
)
from memory_store.changes.extraction import (
    Extraction,
    as_stated,
)
from memory_store.changes.forgetting import (
    Forgotten,
)
from memory_store.changes.linking import (
    CORRECTION,
)
from memory_store.changes.validity import (
    superseded_parts,
)
from memory_store.conflicts import (
    Conflict,
)
from memory_store.documents import (
    NONE,
    Document,
    Documents,
)
from memory_store.engines.disk_space import (
    require_place,
)
from memory_store.facts import (
    only_asks,
    own_sentences,
    reading_of,
    rule_facts,
)
from memory_store.history import (
    Step,
    Told,
)
from memory_store.keys import (
    KeyDesign,
    KeyKind,
    windows,
)
from memory_store.labels import (
    Labels,
    Where,
    checked_labels,
    holds,
    where,
)
from memory_store.listing import (
    Listing,
    Page,
    Place,
)
from memory_store.recall.fusion import (
    Weights,
)
from memory_store.recall.recall import (
    Query,
    Recall,
    RecallSettings,
)
from memory_store.retention import (
    RetentionRule,
)
from memory_store.sessions import (
    LONGEST_TITLE,
    as_title,
    summarise_session,
)
from memory_store.spaces import (
    Whose,
    owner_of,
    whose,
)
from memory_store.store import (
    MemoryStore,
)
from memory_store.time import (
    Precision,
    TimeRange,
    TimeUse,
)
from memory_store.types import (
    Days,
    EnrichmentFailure,
    EnrichmentState,
    Fact,
    FactLink,
    Held,
    Reason,
    Recalled,
    RecalledSession,
    Record,
    Round,
    SessionSummary,
    Speaker,
    round_id,
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
