"""JSON in what models write: found wherever it is, never guessed."""

from typing import Any

import pytest

from assistant.models.structured import json_object


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        (' \n{"a": [1, {"b": "}"}]}\n', {"a": [1, {"b": "}"}]}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('Sure! Here it is:\n\n{"a": 1}\n\nAnything else?', {"a": 1}),
        ('Of course.\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('<think>maybe {"a": 2}?</think>{"a": 1}', {"a": 1}),
        ('{"a": "I said \\"no\\" — ok"}', {"a": 'I said "no" — ok'}),
        ("{}", {}),
    ],
)
def test_found(reply: str, found: dict[str, Any]) -> None:
    assert json_object(reply) == found


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("<think>hm</think>", "empty"),
        ("I'm sorry, I can't help with that.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("null", "no JSON object"),
        ('{"a": [{"b": 1}, {"b"', "cut off or broken"),
        ('{"a": {"b": 1}', "cut off or broken"),
        ("{'a': 1}", "cut off or broken"),
        ('{"a": 1,}', "cut off or broken"),
    ],
)
def test_never_guessed(reply: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        json_object(reply)
