"""What of a loop of tool calls is remembered with its round."""

from collections.abc import Sequence
from typing import Any

from assistant.models.chat_model import Message


def tool_names(messages: Sequence[Message]) -> tuple[str, ...]:
    """The tools that were called, each once, in order."""
    names = (_function(call).get("name") for message in messages for call in message.calls)
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def kept_results(messages: Sequence[Message], characters: int) -> str:
    """So many characters of what each tool returned, to stand before the answer."""
    if not characters:
        return ""
    names = {call.get("id"): _function(call).get("name") for m in messages for call in m.calls}
    results = [
        f"[{_called(message, names)}: {message.content.strip()[:characters]}]\n"
        for message in messages
        if message.is_result and message.content.strip()
    ]
    return "".join([*results, "\n"] if results else [])


def _function(call: Any) -> Any:
    """The function of a call; of a caller's own kind of tool, the call itself."""
    found = call.get("function") or call.get("custom")
    return found if isinstance(found, dict) else call


def _called(result: Message, names: dict[Any, Any]) -> str:
    sent = result.sent or {}
    return str(sent.get("name") or names.get(sent.get("tool_call_id")) or "tool")
