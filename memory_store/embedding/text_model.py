"""What a model must offer for `ModelEncoder` to encode with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from memory_store.embedding.encoder import EncoderIdentity, TextKind

Features = Mapping[str, torch.Tensor]


class Tokenizer(Protocol):
    """Texts to what the network takes, with the prompt that the model wants for their kind.

    Called from one thread at a time: tokenizers must not be shared while at work.
    """

    def __call__(self, texts: Sequence[str], kind: TextKind) -> Features:
        """Padded to the longest, cut at what the model can read."""


@dataclass(frozen=True, slots=True)
class TextModel:
    """A loaded model: its vector space, its tokenizer, and features to one row a text."""

    identity: EncoderIdentity
    tokenizer: Tokenizer
    network: torch.nn.Module
    """Called with `Features`; its rows need not have unit length."""
    one_graph: bool = False
    """Whether the network takes the same operations whatever the texts are."""
