"""Texts to vectors: encoders (one module each) and the batching, caching embedder in front."""

from memory_store.embedding.disk_cache import (
    DiskCache,
)
from memory_store.embedding.embedder import (
    BATCH_SIZE,
    Embedder,
    EmbedderStats,
)
from memory_store.embedding.encoder import (
    Device,
    Encoder,
    EncoderIdentity,
    Matrix,
    ModelOptions,
    TextKind,
)
from memory_store.embedding.hash_encoder import (
    HashEncoder,
)
from memory_store.embedding.model_encoder import (
    ENCODERS,
    PACKAGED,
    ModelEncoder,
)

__all__ = [
    "BATCH_SIZE",
    "ENCODERS",
    "PACKAGED",
    "Device",
    "DiskCache",
    "Embedder",
    "EmbedderStats",
    "Encoder",
    "EncoderIdentity",
    "HashEncoder",
    "Matrix",
    "ModelEncoder",
    "ModelOptions",
    "TextKind",
]
