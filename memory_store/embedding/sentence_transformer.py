"""Any sentence-transformers model. The only importer of `sentence_transformers`."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from memory_store.embedding.encoder import EncoderIdentity, TextKind
from memory_store.embedding.text_model import Features, TextModel
from memory_store.errors import EmbeddingFailed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# What models call their prompts, the usual name first.
_PROMPT_NAMES = {
    TextKind.QUERY: ("query",),
    TextKind.DOCUMENT: ("document", "passage", "corpus"),
}


def load_sentence_transformer(model: str) -> TextModel:
    """A model by name or local path. `OSError` or `ValueError` where it cannot be loaded."""
    # No figures about us to the model hub; read when its client is imported.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    # Imported here because it takes seconds, and the packaged model does without.
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    loaded = SentenceTransformer(model, device="cpu")
    tokenizer = _Tokenizer(loaded)
    alike = tokenizer.prompt(TextKind.QUERY) == tokenizer.prompt(TextKind.DOCUMENT)
    identity = EncoderIdentity(_space_name(model), _dimension(loaded), kinds_alike=alike)
    return TextModel(identity, tokenizer, _Rows(loaded))


class _Tokenizer:
    def __init__(self, model: "SentenceTransformer") -> None:
        self._model = model

    def __call__(self, texts: Sequence[str], kind: TextKind) -> Features:
        features: Features = self._model.preprocess(list(texts), prompt=self.prompt(kind))
        return features

    def prompt(self, kind: TextKind) -> str | None:
        prompts = (self._model.prompts.get(name) for name in _PROMPT_NAMES[kind])
        return next((prompt for prompt in prompts if prompt), None)


class _Rows(torch.nn.Module):
    def __init__(self, model: "SentenceTransformer") -> None:
        super().__init__()
        self._model = model

    def forward(self, features: Features) -> torch.Tensor:
        rows: torch.Tensor = self._model(features)["sentence_embedding"]
        return rows


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
