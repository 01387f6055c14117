"""The protocol of an encoder (blocking, without a cache), and two encoders: one needs no weights,
one runs a model, which is a packaged one or any other through its own library."""

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
"""The packaged encoders, the best first."""
PACKAGED = ENCODERS[0]


class TextKind(StrEnum):
    """What a text is used as: some models read a query and a document differently."""

    QUERY = "query"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """Names the vector space: vectors of different identities must never be compared."""

    name: str
    dimension: int
    kinds_alike: bool = False
    """Whether queries and documents are read alike, so that a text has only one vector."""
    statement: float = 0.5
    """The share that the statement answering a question should have in the query's vector for the
    best recall. An encoder that was trained on questions needs none."""
    common: float = 0.0
    """What is subtracted from its cosines before they are compared with a floor, so that one floor
    fits every encoder."""


class Device(StrEnum):
    """The hardware that a model computes on."""

    AUTO = "auto"
    """A GPU where there is one."""
    CPU = "cpu"
    CUDA = "cuda"


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is loaded, and the prompts that tell it which kind of text it reads.

    A prompt is the name of one that the model knows (`s2p_query`), or a text to put in front, which
    ends in a colon or a space (`query: `). If it is empty, the model's own prompt for queries or
    documents is used. `remote_code` allows code of the model's authors to run here.
    """

    device: Device = Device.AUTO
    query_prompt: str = ""
    document_prompt: str = ""
    remote_code: bool = False


class Encoder(Protocol):
    """Turns texts into vectors of unit length. Several threads may call it."""

    @property
    def path(self) -> str:
        """The library that computes the vectors, for reports. Vectors of different libraries may
        be compared."""

    @property
    def identity(self) -> EncoderIdentity:
        """The vector space of this encoder."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length per text, in order. Raises `EmbeddingFailed`."""


_DIMENSION = 256


class HashEncoder:
    """A deterministic encoder: signed feature hashing of the stemmed words, scaled to unit length.

    Texts that share words are nearer to each other. It lets tests and tiny machines run without a
    model. It does not understand meaning, and the server says so when it is in use.
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
            # Opposite signs can cancel out, and a zero row would be near nothing at all.
            row[0] = 1.0 if length == 0.0 else row[0]
            row /= length or 1.0
        return rows


class _Model(Protocol):
    """A loaded model, which several threads may use; each call computes on one core."""

    identity: EncoderIdentity
    path: str
    batch_size: int

    def rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One vector of any length per text, made with the model's prompt for this kind of text."""


class ModelEncoder:
    """A model by name or local path, or a file of the packaged format. The default is the best
    packaged encoder.

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
        """How many texts the model encodes well together."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """Encode with the prompt the model wants for this kind of text."""
        try:
            rows = self._model.rows(texts, kind)
        except Exception as error:  # the libraries raise kinds of their own
            raise EmbeddingFailed(f"the embedding model failed: {error}") from error
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def _load(model: str, options: ModelOptions) -> _Model:
    # Checked before the libraries are imported, which takes seconds, and which would also look for
    # the model elsewhere.
    if model.startswith(("/", "./", "../")) and not Path(model).exists():
        raise OSError("there is no such folder")
    # Imported here because the import takes a moment, which `--help` should not need.
    if model in ENCODERS or model.endswith(".onnx"):
        if options not in (ModelOptions(), ModelOptions(Device.CPU)):
            raise ValueError("a packaged model computes on the CPU and has no prompts")
        from memory_store.embedding.minilm import from_file, packaged

        return packaged(model) if model in ENCODERS else from_file(Path(model))
    from memory_store.embedding.sentence_transformer import SentenceTransformerModel

    return SentenceTransformerModel(model, options)
