"""How many tokens a text is, what they cost, and how many a model reads.

The tokenizer and the table of models are files that litellm carries. They are read from its folder,
because importing litellm takes seconds. Nothing here uses the network.
"""

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memory_store.by_digest import ByDigest

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text, exactly enough to fill a budget."""

# English chat is 4.6 characters a token in cl100k; JSON, code and names are denser.
CHARACTERS_PER_TOKEN = 4


def about_tokens(text: str) -> int:
    """An estimate that needs no tokenizer, rather too high than too low for English."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class RememberedCounts:
    """A counter that counts each text once. It keeps digests of the texts, not the texts.

    The same rounds are read for question after question, and a tokenizer takes longer over a
    hundred of them than the search that found them.
    """

    def __init__(self, count: TokenCounter, *, most: int = 50_000) -> None:
        self._count = count
        self._known = ByDigest[int](most)

    def __call__(self, text: str) -> int:
        return self._known.of(text, lambda: self._count(text))


_TABLE = "model_prices_and_context_window_backup.json"
_TOKENIZERS = "litellm_core_utils/tokenizers"
_ENCODING = "cl100k_base"


def tokenizer_counter(margin: float = 1.0) -> TokenCounter:
    """Counts with cl100k, times `margin` for models that split text finer.

    For OpenAI's models it is exact or slightly high; for other families the reading preset adds a
    margin.
    """
    # The tokenizer's library reads this, and else fetches the file from the network.
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(_folder() / _TOKENIZERS))
    import tiktoken

    encode = tiktoken.get_encoding(_ENCODING).encode

    def count(text: str) -> int:
        return math.ceil(len(encode(text, disallowed_special=())) * margin)

    return count


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for a token read and a token written; None where they are not known."""

    read: float | None = None
    written: float | None = None

    @classmethod
    def of(cls, model: str, given: tuple[float, float] | None) -> "Prices":
        """Prices of a model: those of the settings, in dollars a million tokens, else those of
        the table."""
        if given:
            return cls(given[0] / 1e6, given[1] / 1e6)
        known = _known(model)
        return cls(known.get("input_cost_per_token"), known.get("output_cost_per_token"))

    def cost(self, read: int, written: int) -> float | None:
        if self.read is None or self.written is None:
            return None
        return read * self.read + written * self.written


def input_limit(model: str) -> int | None:
    """The most tokens the model reads, where the table knows it."""
    limit = _known(model).get("max_input_tokens")
    return int(limit) if limit else None


def takes_pictures(model: str) -> bool:
    """Whether the table knows that the model reads pictures."""
    return bool(_known(model).get("supports_vision"))


def _known(model: str) -> Mapping[str, Any]:
    name = model.partition("/")[2] or model
    known: Mapping[str, Any] = _table().get(model) or _table().get(name) or {}
    return known


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    table: Mapping[str, Mapping[str, Any]] = json.loads((_folder() / _TABLE).read_text("utf-8"))
    return table


def _folder() -> Path:
    spec = find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("litellm is not installed")
    return Path(spec.submodule_search_locations[0])
