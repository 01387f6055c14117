"""A BERT encoder (Devlin et al. 2019) in plain torch, for weights whose architecture is known.

The libraries that run any model take most of a start to import; one small known model needs none
of them.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional


class Bert(nn.Module):
    """Token ids to one vector a token."""

    def __init__(self, config: dict[str, Any], weights: dict[str, Tensor]) -> None:
        """`config` and `weights` as model hubs keep them (`config.json`, `model.safetensors`)."""
        super().__init__()
        self.size: int = config["hidden_size"]
        self._words = weights["embeddings.word_embeddings.weight"]
        # Every token is of the first type: a text is no pair of sentences.
        self._positions = (
            weights["embeddings.position_embeddings.weight"]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _norm(weights, "embeddings.LayerNorm", config)
        self._layers = nn.ModuleList(
            _Layer(config, _within(weights, f"encoder.layer.{number}."))
            for number in range(config["num_hidden_layers"])
        )

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(texts, tokens) of ids, and which of them are tokens, to (texts, tokens, size)."""
        x: Tensor = self._norm(self._words[ids] + self._positions[: ids.shape[1]])
        attended = mask[:, None, None, :]
        for layer in self._layers:
            x = layer(x, attended)
        return x

    @classmethod
    def load(cls, folder: Path) -> "Bert":
        """From the folder of a model. `OSError` where files are missing, `ValueError` where they
        are of another architecture."""
        config = json.loads((folder / "config.json").read_text())
        kind = (config["model_type"], config["hidden_act"], config["position_embedding_type"])
        if kind != ("bert", "gelu", "absolute"):
            raise ValueError(f"{folder} holds a model of another kind: {kind}")
        return cls(config, load_file(folder / "model.safetensors")).eval().requires_grad_(False)


class _Layer(nn.Module):
    def __init__(self, config: dict[str, Any], weights: dict[str, Tensor]) -> None:
        super().__init__()
        self._heads = config["num_attention_heads"]
        attention = _within(weights, "attention.")
        # One product instead of three.
        parts = [f"self.{name}" for name in ("query", "key", "value")]
        self._attend = _linear(attention, *parts)
        self._project = _linear(attention, "output.dense")
        self._attention_norm = _norm(attention, "output.LayerNorm", config)
        self._widen = _linear(weights, "intermediate.dense")
        self._narrow = _linear(weights, "output.dense")
        self._norm = _norm(weights, "output.LayerNorm", config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        texts, tokens, size = x.shape
        parts = self._attend(x).view(texts, tokens, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind()
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(texts, tokens, size)
        x = self._attention_norm(x + self._project(mixed))
        x = self._norm(x + self._narrow(functional.gelu(self._widen(x))))
        return x


def _within(weights: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): weight
        for name, weight in weights.items()
        if name.startswith(prefix)
    }


def _linear(weights: dict[str, Tensor], *names: str) -> nn.Linear:
    weight = torch.cat([weights[f"{name}.weight"] for name in names])
    linear = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
    # The same numbers, laid out input by input: the product of a few tokens is a sixth faster.
    linear.weight = nn.Parameter(weight.t().contiguous().t())
    linear.bias = nn.Parameter(torch.cat([weights[f"{name}.bias"] for name in names]))
    return linear


def _norm(weights: dict[str, Tensor], name: str, config: dict[str, Any]) -> nn.LayerNorm:
    norm = nn.LayerNorm(config["hidden_size"], eps=config["layer_norm_eps"], device="meta")
    norm.weight = nn.Parameter(weights[f"{name}.weight"])
    norm.bias = nn.Parameter(weights[f"{name}.bias"])
    return norm
