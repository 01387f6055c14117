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


class EncoderPath(StrEnum):
    """How the same vectors are computed; paths agree to a mean cosine of 0.999 or better."""

    AUTO = "auto"
    """The fastest one that this processor has and that agrees with the plain one."""
    FP32 = "fp32"
    """The model as it is."""
    INT8 = "int8"
    """Its linear layers in eight bits."""


class Encoder(Protocol):
    """Turns texts into vectors of unit length."""

    @property
    def path(self) -> str:
        """How it computes them, for reports; vectors of several paths may be compared."""

    @property
    def identity(self) -> EncoderIdentity:
        """Which vector space this encoder writes."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length a text, in order. Raises `EmbeddingFailed`."""
