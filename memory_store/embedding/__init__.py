"""Texts to vectors: encoders (one module each) and the batching, caching embedder in front."""

from memory_store.embedding.cache import DiskCache
from memory_store.embedding.embedder import BATCH_SIZE, Embedder, EmbedderStats
from memory_store.embedding.encoder import (
    ENCODERS,
    PACKAGED,
    Device,
    Encoder,
    EncoderIdentity,
    HashEncoder,
    Matrix,
    ModelEncoder,
    ModelOptions,
    TextKind,
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
