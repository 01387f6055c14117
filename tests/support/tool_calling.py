"""What a language model says when it calls tools."""

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
