"""A deterministic encoder without weights: hashed bags of words.

Texts that share words really are nearer. It lets tests and tiny machines run without a model; it
does not understand, and the server says so when it is in use.
"""

import zlib
from collections.abc import Sequence

import numpy as np

from memory_store.embedding.encoder import EncoderIdentity, Matrix, TextKind
from memory_store.language.words import terms

_DIMENSION = 256


class HashEncoder:
    """Signed feature hashing of the stemmed words, scaled to unit length."""

    path = "hash"

    @property
    def identity(self) -> EncoderIdentity:
        """Always the same space."""
        return EncoderIdentity("hash", _DIMENSION, kinds_alike=True)

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """Encode; queries and documents alike."""
        rows = np.zeros((len(texts), _DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text) or [zlib.crc32(text.encode())]:
                row[term % _DIMENSION] += 1.0 if term & 0x8000_0000 else -1.0
            length = float(np.linalg.norm(row))
            # Opposite signs can cancel out; a zero row would be near nothing at all.
            row[0] = 1.0 if length == 0.0 else row[0]
            row /= length or 1.0
        return rows
