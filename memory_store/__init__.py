"""A key-value memory of dated rounds: many keys lead to one verbatim value.

Knows users, sessions, rounds, keys and dates; no HTTP, no chat, no language model.
"""

from typing import TYPE_CHECKING, Any

from memory_store.changes.correction import Corrected, Correction, GivenFact
from memory_store.changes.extraction import Extraction, as_stated
from memory_store.changes.forgetting import Forgotten
from memory_store.changes.linking import CORRECTION
from memory_store.changes.validity import superseded_parts
from memory_store.conflicts import Conflict
from memory_store.documents import NONE, Body, Document, Documents
from memory_store.embedding.disk_cache import DiskCache
from memory_store.embedding.embedder import BATCH_SIZE, Embedder, EmbedderStats
from memory_store.embedding.encoder import (
    Device,
    Encoder,
    EncoderIdentity,
    Matrix,
    ModelOptions,
    TextKind,
)
from memory_store.embedding.hash_encoder import HashEncoder
from memory_store.embedding.model_encoder import ENCODERS, PACKAGED, ModelEncoder
from memory_store.engines.disk_space import require_place
from memory_store.engines.edge.engine import EdgeEngine
from memory_store.engines.edge.operator import EdgeOperator, Repaired
from memory_store.engines.edge.sync import Durability
from memory_store.engines.engine import Claim, Engine
from memory_store.engines.operator import OperatorEngine
from memory_store.errors import (
    EmbeddingFailed,
    InvalidRecord,
    MemoryStoreError,
    RoundTaken,
    StoreDamaged,
    StoreDenied,
    StoreFull,
    StoreLocked,
    StoreMismatch,
    StoreMissing,
    StoreNotEmpty,
    StoreReadOnly,
    StoreUnavailable,
    StoreUnready,
    TransferUnfinished,
)
from memory_store.facts import goes_on_to_ask, only_asks, own_sentences, reading_of, rule_facts
from memory_store.history import Step, Told
from memory_store.keys import KeyDesign, KeyKind, windows
from memory_store.labels import (
    LONGEST_LABEL,
    MOST_LABELS,
    Labels,
    Where,
    checked_labels,
    holds,
    where,
)
from memory_store.language import ENGLISH, LANGUAGES, PLAIN, Language
from memory_store.language.asked import Asked
from memory_store.language.kinds import ASKING, TELLING, Kind, kinds_of, most_of
from memory_store.language.languages import languages_of
from memory_store.language.reading import Reading, Sentence
from memory_store.language.sentences import LONGEST_QUERY, LONGEST_READ, read_sentences, sentences
from memory_store.language.topics import TOPICS, Rarity, key_phrases, telling_sentences
from memory_store.language.wishes import (
    Wishes,
    confirms,
    confirms_deletion,
    declines,
    is_everything,
    topic_of,
    wishes_of,
)
from memory_store.language.words import named_terms, shared_with, shared_words, term_counts, terms
from memory_store.listing import Listing, Page, Place
from memory_store.recall.fusion import Weights
from memory_store.recall.recall import Query, Recall, RecallSettings
from memory_store.recall.speakers import named_speakers, speakers_of, without_names
from memory_store.recall.weighting import Posting, bm25, term_weights
from memory_store.retention import RetentionRule
from memory_store.sessions import LONGEST_TITLE, as_title, summarise_session
from memory_store.spaces import Whose, owner_of, whose
from memory_store.store import MemoryStore
from memory_store.time import Precision, TimeRange, TimeUse
from memory_store.transfer.backup import BackedUp, LinesSum, Restored, back_up, restore
from memory_store.transfer.migrating import Migrated, migrate
from memory_store.transfer.progress import Progress
from memory_store.transfer.records import ending, exported, from_lines, header, to_line, to_lines
from memory_store.transfer.reindexing import Reindexed, cancel_reindex, reindex
from memory_store.transfer.repairing import Mended, repair
from memory_store.turns import aside, charged, current_job, in_slices, new_job, pause
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

if TYPE_CHECKING:
    from memory_store.engines.server.documents import ServerDocuments
    from memory_store.engines.server.engine import ServerEngine
    from memory_store.engines.server.operator import ServerOperator

__all__ = [
    "ASKING",
    "BATCH_SIZE",
    "CORRECTION",
    "ENCODERS",
    "ENGLISH",
    "LANGUAGES",
    "LONGEST_LABEL",
    "LONGEST_QUERY",
    "LONGEST_READ",
    "LONGEST_TITLE",
    "MOST_LABELS",
    "NONE",
    "PACKAGED",
    "PLAIN",
    "TELLING",
    "TOPICS",
    "Asked",
    "BackedUp",
    "Body",
    "Claim",
    "Conflict",
    "Corrected",
    "Correction",
    "Days",
    "Device",
    "DiskCache",
    "Document",
    "Documents",
    "Durability",
    "EdgeEngine",
    "EdgeOperator",
    "Embedder",
    "EmbedderStats",
    "EmbeddingFailed",
    "Encoder",
    "EncoderIdentity",
    "Engine",
    "EnrichmentFailure",
    "EnrichmentState",
    "Extraction",
    "Fact",
    "FactLink",
    "Forgotten",
    "GivenFact",
    "HashEncoder",
    "Held",
    "InvalidRecord",
    "KeyDesign",
    "KeyKind",
    "Kind",
    "Labels",
    "Language",
    "LinesSum",
    "Listing",
    "Matrix",
    "MemoryStore",
    "MemoryStoreError",
    "Mended",
    "Migrated",
    "ModelEncoder",
    "ModelOptions",
    "OperatorEngine",
    "Page",
    "Place",
    "Posting",
    "Precision",
    "Progress",
    "Query",
    "Rarity",
    "Reading",
    "Reason",
    "Recall",
    "RecallSettings",
    "Recalled",
    "RecalledSession",
    "Record",
    "Reindexed",
    "Repaired",
    "Restored",
    "RetentionRule",
    "Round",
    "RoundTaken",
    "Sentence",
    "ServerDocuments",
    "ServerEngine",
    "ServerOperator",
    "SessionSummary",
    "Speaker",
    "Step",
    "StoreDamaged",
    "StoreDenied",
    "StoreFull",
    "StoreLocked",
    "StoreMismatch",
    "StoreMissing",
    "StoreNotEmpty",
    "StoreReadOnly",
    "StoreUnavailable",
    "StoreUnready",
    "TextKind",
    "TimeRange",
    "TimeUse",
    "Told",
    "TransferUnfinished",
    "Weights",
    "Where",
    "Whose",
    "Wishes",
    "as_stated",
    "as_title",
    "aside",
    "back_up",
    "bm25",
    "cancel_reindex",
    "charged",
    "checked_labels",
    "confirms",
    "confirms_deletion",
    "current_job",
    "declines",
    "ending",
    "exported",
    "from_lines",
    "goes_on_to_ask",
    "header",
    "holds",
    "in_slices",
    "is_everything",
    "key_phrases",
    "kinds_of",
    "languages_of",
    "migrate",
    "most_of",
    "named_speakers",
    "named_terms",
    "new_job",
    "only_asks",
    "own_sentences",
    "owner_of",
    "pause",
    "read_sentences",
    "reading_of",
    "reindex",
    "repair",
    "require_place",
    "restore",
    "round_id",
    "rule_facts",
    "sentences",
    "shared_with",
    "shared_words",
    "speakers_of",
    "summarise_session",
    "superseded_parts",
    "telling_sentences",
    "term_counts",
    "term_weights",
    "terms",
    "to_line",
    "to_lines",
    "topic_of",
    "where",
    "whose",
    "windows",
    "wishes_of",
    "without_names",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """What is on a server when it is asked for: its client takes a second to import."""
        if name == "ServerDocuments":
            from memory_store.engines.server.documents import ServerDocuments

            return ServerDocuments
        if name == "ServerEngine":
            from memory_store.engines.server.engine import ServerEngine

            return ServerEngine
        if name == "ServerOperator":
            from memory_store.engines.server.operator import ServerOperator

            return ServerOperator
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
