"""Which reading preset belongs to which model name."""

import pytest

from assistant.answering.plan import PRESETS, Mode, ReadingPlan, preset_named, preset_of
from memory_store.language import Asked


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/gpt-4o", "gpt"),
        ("gpt-4.1-mini", "gpt"),
        ("openai/gpt-5-chat-latest", "gpt"),
        ("openai/gpt-5-mini", "reasoning"),
        ("o3-mini", "reasoning"),
        ("deepseek/deepseek-reasoner", "reasoning"),
        ("deepseek/deepseek-chat", "default"),
        ("anthropic/claude-3-5-sonnet-20241022", "claude-notes"),
        ("claude-sonnet-4-5", "claude-notes"),
        ("claude-sonnet-5-5", "claude"),
        ("claude-opus-5", "claude"),
        ("gemini/gemini-2.5-pro", "gemini"),
        ("ollama/llama3.1:8b", "small"),
        ("ollama/qwen2.5:7b-instruct", "small"),
        ("ollama/phi4", "small"),
        ("openai/llama-3.3-70b", "default"),
        ("mistral/mixtral-8x22b", "default"),
        ("openai/fake", "default"),
    ],
)
def test_a_model_name_has_a_preset(model: str, name: str) -> None:
    assert preset_of(model).name == name


def test_every_preset_can_be_named() -> None:
    assert [preset_named(preset.name) for preset in PRESETS] == list(PRESETS)


@pytest.mark.parametrize(("tokens", "rounds"), [(500, 20), (4000, 50), (8000, 100), (32000, 400)])
def test_rounds_are_recalled_as_the_budget_can_show_them(tokens: int, rounds: int) -> None:
    assert ReadingPlan(context_tokens=tokens).most_rounds(Asked()) == rounds


def test_an_overview_takes_more_rounds_than_a_question() -> None:
    assert ReadingPlan(context_tokens=6000).most_rounds(Asked(overview=True)) == 100


def test_small_models_read_less_and_take_no_notes() -> None:
    plan = preset_named("small").plan
    assert (plan.mode, plan.context_tokens) == (Mode.DIRECT, 4000)
