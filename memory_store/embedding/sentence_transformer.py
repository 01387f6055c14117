"""Any sentence-transformers model, on a CPU or a GPU. Only this module imports torch and
sentence-transformers."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from memory_store.embedding.encoder import Device, EncoderIdentity, Matrix, ModelOptions, TextKind
from memory_store.errors import EmbeddingFailed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Names that models give their prompts, the usual one first.
_PROMPT_NAMES = {
    TextKind.QUERY: ("query",),
    TextKind.DOCUMENT: ("document", "passage", "corpus"),
}


# How many texts are encoded together: a few keep a core busy, a GPU needs many.
_BATCH = {"cpu": 16, "cuda": 128}


class SentenceTransformerModel:
    """A model by name or local path; on a GPU it computes with half precision."""

    def __init__(self, model: str, options: ModelOptions) -> None:
        """Load the model. Raises `OSError` or `ValueError` if that cannot be done."""
        # The client of the model hub reads this when it is imported, and then sends no figures
        # about its use.
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        # Imported here because it takes seconds, and the packaged models do not need it.
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(1)
        self._no_gradients = torch.inference_mode
        self._device = _device(options.device, has_cuda=torch.cuda.is_available())
        self.path = "torch" if self._device == "cpu" else f"torch on {self._device}, half precision"
        self.batch_size = _BATCH[self._device]
        self._torch_device = torch.device(self._device)
        # Without `trust_remote_code` the library refuses a model that needs code of its authors.
        self._model = SentenceTransformer(
            model, device=self._device, trust_remote_code=options.remote_code
        )
        if self._device != "cpu":
            self._model.half()
        # Two threads must not use a tokenizer at once.
        self._tokenizer_lock = Lock()
        wanted = {
            TextKind.QUERY: options.query_prompt,
            TextKind.DOCUMENT: options.document_prompt,
        }
        self._prompts = {kind: _prompt(self._model, kind, wanted[kind]) for kind in TextKind}
        self.identity = EncoderIdentity(
            _space_name(model, list(wanted.values())),
            _dimension(self._model),
            kinds_alike=len(set(self._prompts.values())) == 1,
        )

    def rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row per text, encoded with the prompt for its kind."""
        with self._tokenizer_lock:
            features = self._model.preprocess(list(texts), prompt=self._prompts[kind])
        from sentence_transformers.util import batch_to_device

        with self._no_gradients():
            features = batch_to_device(features, self._torch_device)
            rows = self._model(features)["sentence_embedding"].float().cpu().numpy()
        return np.asarray(rows, np.float32)


def _device(wanted: Device, *, has_cuda: bool) -> str:
    if wanted is Device.CUDA and not has_cuda:
        raise ValueError("there is no GPU that torch can use")
    return "cuda" if has_cuda and wanted is not Device.CPU else "cpu"


def _prompt(model: "SentenceTransformer", kind: TextKind, wanted: str) -> str | None:
    if wanted in model.prompts:
        return model.prompts[wanted] or None
    if wanted.endswith((":", " ", "\n")):
        return wanted
    if wanted:
        known = ", ".join(sorted(model.prompts)) or "none"
        raise ValueError(f"the model has no prompt {wanted!r}; it knows {known}")
    prompts = (model.prompts.get(name) for name in _PROMPT_NAMES[kind])
    return next((prompt for prompt in prompts if prompt), None)


def _dimension(model: "SentenceTransformer") -> int:
    size = model.get_embedding_dimension()
    if not size:
        raise EmbeddingFailed("the embedding model does not say how long its vectors are")
    return int(size)


def _space_name(model: str, prompts: Sequence[str]) -> str:
    """The name of the vector space, made from the prompts asked for and the model: for a local one
    its folder's name and a digest of its configuration."""
    config = Path(model) / "config.json"
    name = model
    if config.is_file():
        name = f"{Path(model).name}@{hashlib.sha256(config.read_bytes()).hexdigest()[:12]}"
    return f"{name} ({', '.join(map(repr, prompts))})" if any(prompts) else name
