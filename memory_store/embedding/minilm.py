"""The packaged encoders on ONNX Runtime: networks of MiniLM's shape (Wang et al. 2020), each in one
file with 8-bit weights. packaged/README.md says where each comes from.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

from memory_store.embedding.encoder import EncoderIdentity, Matrix, TextKind

FOLDER = Path(__file__).with_name("packaged")
# Longer texts are cut here.
_MOST_TOKENS = 256


_DIMENSION = 384
_BASE = EncoderIdentity("all-MiniLM-L6-v2", _DIMENSION, kinds_alike=True)
# Chosen by what a floor denies: `python -m benchmarks.encoder floors ENCODER`.
_TAUGHT = EncoderIdentity("", _DIMENSION, kinds_alike=True, statement=0.0, common=0.05)


class MiniLM:
    """The network of this identity, from its file. It reads queries and documents alike."""

    path = "onnxruntime"
    batch_size = 16

    def __init__(self, identity: EncoderIdentity, file: Path) -> None:
        """Raises `ValueError` if the file cannot be used."""
        self._session = _session(file)
        self.identity = identity
        self._tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.enable_padding()
        self._tokenizer_lock = Lock()

    def rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row per text: the mean of its tokens' vectors."""
        with self._tokenizer_lock:
            encoded = self._tokenizer.encode_batch_fast(list(texts))
        ids = np.array([text.ids for text in encoded], np.int32)
        mask = np.array([text.attention_mask for text in encoded], np.int32)
        (rows,) = self._session.run(None, {"ids": ids, "mask": mask})
        return np.asarray(rows, np.float32)


def packaged(name: str) -> MiniLM:
    """The packaged encoder of that name."""
    identity = _BASE if name == _BASE.name else replace(_TAUGHT, name=name)
    return MiniLM(identity, FOLDER / f"{name}.onnx")


def from_file(file: Path) -> MiniLM:
    """Another encoder, trained like the packaged ones; its name holds a digest of the file."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return MiniLM(replace(_TAUGHT, name=f"{file.stem} {digest[:8]}"), file)


def open_session(model: bytes) -> InferenceSession:
    """A session in which each call computes on the thread that makes it."""
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # A memory plan would be kept for each shape of a batch, and few shapes come again.
    options.enable_mem_pattern = False
    return InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _session(file: Path) -> InferenceSession:
    try:
        return open_session(file.read_bytes())
    except Exception as error:  # of many kinds without a base of their own
        raise ValueError(f"{file}: {error}") from error
