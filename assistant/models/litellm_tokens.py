"""Tokens as litellm counts them, offline, and how much a model can read at most.

litellm carries one tokenizer with it (cl100k) and fetches others from the network when asked, which
it is forbidden here. For OpenAI's models cl100k is exact or slightly high; for other families the
reading preset adds a margin.
"""

import math

from assistant.models.litellm_import import load_litellm
from assistant.models.token_counter import TokenCounter


def litellm_counter(model: str, margin: float = 1.0) -> TokenCounter:
    """Counts with litellm's own tokenizer, times `margin` for models that split text finer."""
    litellm = load_litellm()

    def count(text: str) -> int:
        return math.ceil(litellm.token_counter(model=model, text=text) * margin) if text else 0

    count("ready")  # the tokenizer is loaded on first use: at the start, not in somebody's request
    return count


def input_limit(model: str) -> int | None:
    """The most tokens the model reads, where litellm's table knows it."""
    litellm = load_litellm()
    name = model.partition("/")[2] or model
    known = litellm.model_cost.get(model) or litellm.model_cost.get(name) or {}
    limit = known.get("max_input_tokens")
    return int(limit) if limit else None
