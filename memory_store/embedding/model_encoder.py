"""An encoder that runs a model's network, as it is or in eight bits."""

import copy
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory_store.embedding.encoder import EncoderIdentity, EncoderPath, Matrix, TextKind
from memory_store.embedding.probes import probe_texts
from memory_store.errors import EmbeddingFailed

if TYPE_CHECKING:
    from torch.nn import Module

    from memory_store.embedding.text_model import TextModel

_log = logging.getLogger(__name__)

PACKAGED = "all-MiniLM-L6-v2"
# A faster path must give at least this mean cosine to the plain one, on texts it was not made with.
_ENOUGH_COSINE = 0.999
# Of two lengths, so that there is padding.
_EXAMPLE = ("I adopted a cat.", "When?")


class ModelEncoder:
    """A model by name or local path; the default is the MiniLM that a package carries.

    `encode` may be called from several threads. Each call computes on one core: short texts gain
    more from calls side by side than from cores that wait for each other inside a call.
    """

    def __init__(self, model: str = PACKAGED, path: EncoderPath = EncoderPath.FP32) -> None:
        """Load the model at once, so that a wrong name fails at start. Raises `EmbeddingFailed`.

        A path that this processor lacks, or that disagrees with the plain one, is not taken.
        """
        try:
            self._model = _load(model)
        except (OSError, ValueError) as error:
            raise EmbeddingFailed(
                f"cannot load the embedding model {model!r}: {error}. Give a local path, "
                f"a model name that can be downloaded, or {PACKAGED!r}"
            ) from error
        except ModuleNotFoundError as error:
            raise EmbeddingFailed(
                f"the embedding model {model!r} needs the extra: "
                f"pip install 'aide-memoire[embedders]' ({error}). {PACKAGED!r} does without"
            ) from error
        # Imported here because it takes seconds, and `--help` should not.
        import torch

        from memory_store.embedding.graph import as_graph

        torch.set_num_threads(1)
        self._no_gradients = torch.inference_mode
        self._tokenizer_lock = threading.Lock()
        self._network = self._model.network
        self._path = EncoderPath.FP32
        if path is not EncoderPath.FP32:
            self._try_int8(demanded=path is EncoderPath.INT8)
        if self._model.one_graph:
            self._network = as_graph(
                self._network, self._model.tokenizer(_EXAMPLE, TextKind.DOCUMENT)
            )

    @property
    def identity(self) -> EncoderIdentity:
        """The model's name (and, for a local path, a digest of its configuration) and size."""
        return self._model.identity

    @property
    def path(self) -> str:
        """The path that was taken, `fp32` or `int8`."""
        return self._path

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """Encode with the prompt the model wants for this kind of text."""
        try:
            return self._encode_with(self._network, texts, kind)
        except (RuntimeError, ValueError) as error:
            raise EmbeddingFailed(f"the embedding model failed: {error}") from error

    def _encode_with(self, network: "Module", texts: Sequence[str], kind: TextKind) -> Matrix:
        with self._tokenizer_lock:
            features = self._model.tokenizer(texts, kind)
        with self._no_gradients():
            rows = network(features).float().numpy()
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
        faster = copy.deepcopy(self._network)
        try:
            int8.quantise(faster, lambda: self._encode_with(faster, learning, TextKind.DOCUMENT))
            rows = self._encode_with(faster, checking, TextKind.DOCUMENT)
        except (RuntimeError, ValueError, AttributeError) as error:
            _log.warning("encoding in fp32: the eight-bit path failed (%s)", error)
            return
        plain = self._encode_with(self._network, checking, TextKind.DOCUMENT)
        cosine = float((rows * plain).sum(axis=1).mean())
        if not cosine >= _ENOUGH_COSINE:
            _log.warning("encoding in fp32: eight bits give a mean cosine of only %.4f", cosine)
            return
        self._network, self._path = faster, EncoderPath.INT8


def _load(model: str) -> "TextModel":
    # Told before the libraries are imported, which takes seconds and looks for it elsewhere, too.
    if model.startswith(("/", "./", "../")) and not Path(model).exists():
        raise OSError("there is no such folder")
    if model == PACKAGED:
        from memory_store.embedding.minilm import load_minilm

        return load_minilm(PACKAGED)
    from memory_store.embedding.sentence_transformer import load_sentence_transformer

    return load_sentence_transformer(model)
