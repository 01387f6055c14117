"""The protocol of an encoder, blocking and without a cache; one that needs no weights; and one that
runs a model: a packaged one, or any other through its own library."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from memory_store.errors import EmbeddingFailed
from memory_store.language.words import terms

Matrix = npt.NDArray[np.float32]
ENCODERS = ("aide-minilm-2", "aide-minilm-1", "all-MiniLM-L6-v2")
"""The packaged ones, the best first."""
PACKAGED = ENCODERS[0]


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


class _Model(Protocol):
    """A loaded model, which several threads may use; each call computes on one core."""

    identity: EncoderIdentity
    path: str
    batch_size: int

    def rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row a text, of any length, with the prompt that the model wants for this kind."""


class ModelEncoder:
    """A model by name or local path, or a file like those that are packaged; the default is the
    best of these.

    `encode` may be called from several threads. On a CPU each call computes on one core: short
    texts gain more from calls side by side than from cores that wait for each other inside a call.
    """

    def __init__(self, model: str = PACKAGED, options: ModelOptions | None = None) -> None:
        """Load the model at once, so that a wrong name fails at start. Raises `EmbeddingFailed`."""
        try:
            self._model = _load(model, options or ModelOptions())
        except (OSError, ValueError) as error:
            raise EmbeddingFailed(
                f"cannot load the embedding model {model!r}: {error}. Give a local path, "
                f"a model name that can be downloaded, or {PACKAGED!r}"
            ) from error
        except ModuleNotFoundError as error:
            raise EmbeddingFailed(
                f"the embedding model {model!r} needs the extra: "
                f"pip install 'aide-memoire[embedders]' ({error}). {PACKAGED!r} needs none"
            ) from error
        self.identity = self._model.identity
        """The model's name (and, for a local path, a digest of its configuration) and size."""
        self.path = self._model.path
        """The library that computes the vectors."""
        self.batch_size = self._model.batch_size
        """How many texts it encodes well together."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """Encode with the prompt the model wants for this kind of text."""
        try:
            rows = self._model.rows(texts, kind)
        except Exception as error:  # the libraries raise kinds of their own
            raise EmbeddingFailed(f"the embedding model failed: {error}") from error
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def _load(model: str, options: ModelOptions) -> _Model:
    # Told before the libraries are imported, which takes seconds and looks for it elsewhere, too.
    if model.startswith(("/", "./", "../")) and not Path(model).exists():
        raise OSError("there is no such folder")
    # Imported here because it takes a moment, and `--help` should not.
    if model in ENCODERS or model.endswith(".onnx"):
        if options not in (ModelOptions(), ModelOptions(Device.CPU)):
            raise ValueError("a packaged model computes on the CPU and has no prompts")
        from memory_store.embedding.minilm import from_file, packaged

        return packaged(model) if model in ENCODERS else from_file(Path(model))
    from memory_store.embedding.sentence_transformer import SentenceTransformerModel

    return SentenceTransformerModel(model, options)
