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
        ("gemini/gemini-2.0-flash", "gemini"),
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


REASON = """
    o1 o1-mini openai/o3 o3-pro azure/o4-mini o4-mini-2025-04-16 openrouter/openai/o3
    gpt-5 gpt-5-nano gpt-5.1 gpt-5-codex openai/gpt-5.2-pro groq/openai/gpt-oss-120b
    ollama/gpt-oss:20b deepseek-reasoner deepseek/deepseek-r1-0528 bedrock/us.deepseek.r1-v1:0
    groq/deepseek-r1-distill-llama-70b ollama/qwen3:32b Qwen/Qwen3-235B-A22B ollama/qwen3:30b-a3b
    qwen3-235b-a22b-thinking-2507 Qwen/QwQ-32B magistral-medium-2509 mistral/magistral-small-latest
    xai/grok-4 grok-4-0709 grok-4-fast-reasoning grok-4-1-fast-reasoning grok-3-mini
    xai/grok-code-fast-1 gemini/gemini-2.5-pro vertex_ai/gemini-2.5-flash gemini-3-pro-preview
    gemini-3-flash-preview gemini-flash-latest gemini-2.0-flash-thinking-exp
    moonshot/kimi-k2-thinking perplexity/sonar-reasoning-pro minimax/MiniMax-M2 zai/glm-4.6
"""
DO_NOT = """
    gpt-4o gpt-4.1 gpt-4.5-preview chatgpt-4o-latest gpt-5-chat-latest gpt-5.1-chat-latest
    deepseek-chat deepseek-v3 qwen3-235b-a22b-instruct-2507 ollama/qwen3-coder:30b qwen3-max
    qwen2.5-72b-instruct grok-3 xai/grok-4-fast-non-reasoning grok-2-latest gemini-1.5-pro
    gemini-2.0-flash gemini-2.5-flash-lite mistral-large-latest moonshot/kimi-k2-instruct
    llama-3.3-70b command-a-03-2025 qwen3-next-80b-non-thinking perplexity/sonar-pro glm-4-plus
"""


@pytest.mark.parametrize("model", REASON.split())
def test_models_that_reason_are_asked_for_no_notes(model: str) -> None:
    assert preset_of(model).name == "reasoning"
    assert preset_of(model).plan.mode is Mode.DIRECT


@pytest.mark.parametrize("model", DO_NOT.split())
def test_models_that_do_not_reason_are_asked_for_notes(model: str) -> None:
    assert preset_of(model).name != "reasoning"
    assert preset_of(model).plan.mode is Mode.CHAIN_OF_NOTE


@pytest.mark.parametrize(
    "model",
    ["openrouter/anthropic/claude-3.7-sonnet:thinking", "claude-opus-4-1-20250805-thinking"],
)
def test_claude_that_thinks_takes_no_notes_and_is_counted_as_claude(model: str) -> None:
    assert (preset_of(model).name, preset_of(model).margin) == ("claude", 1.3)
    assert preset_of(model).plan.mode is Mode.DIRECT


@pytest.mark.parametrize("model", ["ollama/qwen3:8b", "ollama/qwen3:4b", "ollama/phi4-reasoning"])
def test_small_models_that_reason_read_as_small_ones_do(model: str) -> None:
    assert preset_of(model).name == "small"


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
