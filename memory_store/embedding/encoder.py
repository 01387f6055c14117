"""The protocol of an encoder: blocking, without a cache, callable from several threads."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

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


class Encoder(Protocol):
    """Turns texts into vectors of unit length."""

    @property
    def path(self) -> str:
        """What computes them, for reports; its vectors may be compared with those of others."""

    @property
    def identity(self) -> EncoderIdentity:
        """Which vector space this encoder writes."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length a text, in order. Raises `EmbeddingFailed`."""
