"""Chunks put together again."""

from typing import Any

import pytest

from assistant.models.chat_model import merge


@pytest.mark.parametrize(
    ("deltas", "whole"),
    [
        (
            [{"role": "assistant", "content": "a"}, {"content": "b"}],
            {"role": "assistant", "content": "ab"},
        ),
        ([{"content": None}, {"content": "a"}, {"content": None}], {"content": "a"}),
        (
            [
                {
                    "tool_calls": [
                        {"index": 1, "id": "x", "function": {"name": "f", "arguments": "{"}}
                    ]
                },
                {"tool_calls": [{"index": 0, "id": "y"}]},
                {"tool_calls": [{"index": 1, "id": "x", "function": {"arguments": "}"}}]},
            ],
            {
                "tool_calls": [
                    {"index": 1, "id": "x", "function": {"name": "f", "arguments": "{}"}},
                    {"index": 0, "id": "y"},
                ]
            },
        ),
        (
            [{"tool_calls": [{"id": "x"}]}, {"tool_calls": [{"id": "y"}]}],
            {"tool_calls": [{"id": "x"}, {"id": "y"}]},
        ),
        (
            [{"logprobs": {"content": [1]}}, {"logprobs": {"content": [2]}}],
            {"logprobs": {"content": [1, 2]}},
        ),
        ([{"x": "a"}, {"x": [1]}, {"x": {"y": 1}}, {"x": 2}], {"x": 2}),
    ],
)
def test_what_a_reply_would_have_been(deltas: list[dict[str, Any]], whole: dict[str, Any]) -> None:
    told: dict[str, Any] = {}
    for delta in deltas:
        merge(told, delta)
    assert told == whole
