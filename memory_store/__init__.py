"""A key-value memory of dated rounds: many keys lead to one verbatim value.

Knows users, sessions, rounds, keys and dates; no HTTP, no chat, no language model.
"""

from memory_store.embedding.embedder import Embedder, EmbedderStats
from memory_store.embedding.encoder import Encoder, EncoderIdentity, TextKind
from memory_store.embedding.hash_encoder import HashEncoder
from memory_store.embedding.sentence_transformer import PACKAGED, SentenceTransformerEncoder
from memory_store.engines.edge import EdgeEngine
from memory_store.engines.engine import Engine
from memory_store.errors import (
    EmbeddingFailed,
    InvalidRecord,
    MemoryStoreError,
    StoreLocked,
    StoreMismatch,
    StoreUnavailable,
)
from memory_store.facts import sentences
from memory_store.recall.fusion import Weights
from memory_store.recall.recall import Query, Recall, RecallSettings
from memory_store.sessions import summarise_session
from memory_store.store import MemoryStore
from memory_store.time import TimeRange
from memory_store.types import (
    Days,
    EnrichmentState,
    Fact,
    Recalled,
    RecalledSession,
    Record,
    Round,
    SessionSummary,
    Speaker,
    round_id,
)

__all__ = [
    "PACKAGED",
    "Days",
    "EdgeEngine",
    "Embedder",
    "EmbedderStats",
    "EmbeddingFailed",
    "Encoder",
    "EncoderIdentity",
    "Engine",
    "EnrichmentState",
    "Fact",
    "HashEncoder",
    "InvalidRecord",
    "MemoryStore",
    "MemoryStoreError",
    "Query",
    "Recall",
    "RecallSettings",
    "Recalled",
    "RecalledSession",
    "Record",
    "Round",
    "SentenceTransformerEncoder",
    "SessionSummary",
    "Speaker",
    "StoreLocked",
    "StoreMismatch",
    "StoreUnavailable",
    "TextKind",
    "TimeRange",
    "Weights",
    "round_id",
    "sentences",
    "summarise_session",
]
