"""What a language model says when it calls tools."""

import json
from typing import Any


def calls(*names: str, first: int = 0) -> list[dict[str, Any]]:
    """Chunks in which a model calls tools, the arguments in two halves."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    for index, name in enumerate(names):
        called = {"name": name, "arguments": ""}
        id = f"call_{first + index}"
        begun = {"index": index, "id": id, "type": "function", "function": called}
        deltas.append({"tool_calls": [begun]})
        for half in ('{"place": ', f'"{name}"}}'):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": half}}]})
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]


def called(id: str, name: str) -> dict[str, Any]:
    """A call as the whole message has it."""
    arguments = f'{{"place": "{name}"}}'
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def looks(*wanted: tuple[str, dict[str, Any]], text: str | None = None) -> list[dict[str, Any]]:
    """Chunks in which a model calls tools with these arguments, after a text."""
    made = [
        {
            "index": place,
            "id": f"call_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for place, (name, given) in enumerate(wanted)
    ]
    deltas = [{"role": "assistant", "content": text}, *({"tool_calls": [one]} for one in made)]
    ended = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    return [*({"choices": [{"index": 0, "delta": d}]} for d in deltas), {"choices": [ended]}]
