"""An encoder that runs a model: a packaged one, or any other through its own library."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from memory_store.embedding.encoder import Device, EncoderIdentity, Matrix, ModelOptions, TextKind
from memory_store.errors import EmbeddingFailed

ENCODERS = ("aide-minilm-2", "aide-minilm-1", "all-MiniLM-L6-v2")
"""The packaged ones, the best first."""
PACKAGED = ENCODERS[0]


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
