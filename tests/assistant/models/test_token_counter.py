"""Counting tokens without the network."""

import pytest

from assistant.models.litellm_tokens import input_limit, litellm_counter
from assistant.models.token_counter import RememberedCounts, about_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("four", 1), ("fives", 2)])
def test_the_estimate(text: str, tokens: int) -> None:
    assert about_tokens(text) == tokens


def test_a_text_is_counted_once_until_others_take_its_place() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    remembered = RememberedCounts(count, most=2)
    assert [remembered(text) for text in ("a", "bb", "a", "ccc", "a", "bb")] == [1, 2, 1, 3, 1, 2]
    assert counted == ["a", "bb", "ccc", "bb"]


@pytest.mark.parametrize("model", ["openai/gpt-4o", "ollama/llama3", "command-r", "unheard/of"])
def test_every_model_is_counted_offline(model: str) -> None:
    count = litellm_counter(model)
    assert count("") == 0
    assert count("The cat sat on the mat.") == 7


def test_a_margin_counts_finer_splitting() -> None:
    assert litellm_counter("claude-sonnet-4-5", margin=1.3)("The cat sat on the mat.") == 10


def test_the_limit_of_a_known_model() -> None:
    assert input_limit("openai/gpt-4o") == input_limit("gpt-4o") == 128_000
    assert input_limit("openai/fake") is None
