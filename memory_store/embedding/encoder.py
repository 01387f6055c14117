"""The protocol of an encoder, blocking and without a cache, and one that needs no weights."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from memory_store.language.words import terms

Matrix = npt.NDArray[np.float32]


class TextKind(StrEnum):
    """Some models read a query and a document differently."""

    QUERY = "query"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """Names the vector space: vectors of different identities must never be compared."""

    name: str
    dimension: int
    kinds_alike: bool = False
    """Whether queries and documents are read alike: then a text has one vector."""
    statement: float = 0.5
    """With which share of the statement that would answer a question, in the query's vector, it
    finds most. One that was taught on questions wants none."""
    common: float = 0.0
    """What is taken off its cosines where nearness decides, so that one floor serves every
    encoder."""


class Device(StrEnum):
    """What a model computes on."""

    AUTO = "auto"
    """A GPU where there is one."""
    CPU = "cpu"
    CUDA = "cuda"


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is loaded and told what it reads.

    A prompt is the name of one that the model knows (`s2p_query`), or a text that is put in front
    (`query: `, which ends in a colon or a space); empty takes the model's own for queries and
    documents. `remote_code` lets code of the model's authors run here.
    """

    device: Device = Device.AUTO
    query_prompt: str = ""
    document_prompt: str = ""
    remote_code: bool = False


class Encoder(Protocol):
    """Turns texts into vectors of unit length. Several threads may call it."""

    @property
    def path(self) -> str:
        """What computes them, for reports; its vectors may be compared with those of others."""

    @property
    def identity(self) -> EncoderIdentity:
        """Which vector space this encoder writes."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length a text, in order. Raises `EmbeddingFailed`."""


_DIMENSION = 256


class HashEncoder:
    """Deterministic: signed feature hashing of the stemmed words, scaled to unit length.

    Texts that share words really are nearer. It lets tests and tiny machines run without a model;
    it does not understand, and the server says so when it is in use.
    """

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
