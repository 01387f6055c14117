"""Counting tokens without the network."""

import pytest

from assistant.models.litellm_model import load_litellm
from assistant.models.token_counter import (
    Prices,
    RememberedCounts,
    about_tokens,
    input_limit,
    tokenizer_counter,
)


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


TEXTS = [
    "",
    "The cat sat on the mat.",
    "ünïcode ☃ 漢字 <|endoftext|>",
    '{"a": [1, 2]}\n\n    def f(): ...',
]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_counted_as_litellm_does_and_offline(text: str) -> None:
    assert tokenizer_counter()(text) == load_litellm().token_counter(model="gpt-4", text=text)


def test_a_margin_counts_finer_splitting() -> None:
    assert tokenizer_counter()("The cat sat on the mat.") == 7
    assert tokenizer_counter(margin=1.3)("The cat sat on the mat.") == 10


def test_the_limit_of_a_known_model() -> None:
    assert input_limit("openai/gpt-4o") == input_limit("gpt-4o") == 128_000
    assert input_limit("openai/fake") is None


@pytest.mark.parametrize("model", ["gpt-4o-mini", "openai/gpt-4o"])
def test_prices_are_those_that_litellm_reckons_with(model: str) -> None:
    read, written = load_litellm().cost_per_token(
        model=model, prompt_tokens=1000, completion_tokens=10
    )
    assert Prices.of(model, None).cost(1000, 10) == pytest.approx(read + written)


def test_a_price_that_nobody_knows_is_not_nothing() -> None:
    assert Prices.of("openai/fake", None).cost(1000, 10) is None
    assert Prices.of("openai/fake", (2.0, 8.0)).cost(1000, 10) == pytest.approx(0.00208)
