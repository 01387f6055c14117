"""Any sentence-transformers model, on the CPU. The only importer of torch and of its library."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from memory_store.embedding.encoder import EncoderIdentity, Matrix, TextKind
from memory_store.errors import EmbeddingFailed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# What models call their prompts, the usual name first.
_PROMPT_NAMES = {
    TextKind.QUERY: ("query",),
    TextKind.DOCUMENT: ("document", "passage", "corpus"),
}


class SentenceTransformerModel:
    """A model by name or local path."""

    path = "torch"

    def __init__(self, model: str) -> None:
        """Load it, `OSError` or `ValueError` where that cannot be done."""
        # No figures about us to the model hub; read when its client is imported.
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        # Imported here because it takes seconds, and the packaged model does without.
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(1)
        self._no_gradients = torch.inference_mode
        self._model = SentenceTransformer(model, device="cpu")
        # Tokenizers must not be shared while at work.
        self._tokenizer_lock = Lock()
        self._prompts = {kind: _prompt(self._model, kind) for kind in TextKind}
        self.identity = EncoderIdentity(
            _space_name(model),
            _dimension(self._model),
            kinds_alike=len(set(self._prompts.values())) == 1,
        )

    def rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row a text, with the prompt for its kind."""
        with self._tokenizer_lock:
            features = self._model.preprocess(list(texts), prompt=self._prompts[kind])
        with self._no_gradients():
            rows = self._model(features)["sentence_embedding"].float().numpy()
        return np.asarray(rows, np.float32)


def _prompt(model: "SentenceTransformer", kind: TextKind) -> str | None:
    prompts = (model.prompts.get(name) for name in _PROMPT_NAMES[kind])
    return next((prompt for prompt in prompts if prompt), None)


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
