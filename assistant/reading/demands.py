"""What a request demands beside an answer in words, which only a language model can give.

Such a request is passed on as it came. Memory stands beside it: no protocol of ours, such as notes
before the answer, comes between a program and the model that it works with.
"""

from collections.abc import Mapping
from typing import Any

from assistant.models.chat_model import Message

TEXT_PARTS = ("text", "input_text", "output_text")


def demanded(options: Mapping[str, Any], question: Message | None) -> tuple[str, ...]:
    """The names of what is demanded, by OpenAI's fields; `question` is the message to answer."""
    found = [name for name in ("tools", "functions", "logprobs", "audio") if options.get(name)]
    found += ["response_format"] if shapes_reply(options) else []
    found += ["n"] if options.get("n") not in (None, 1) else []
    found += ["modalities"] if options.get("modalities") not in (None, ["text"]) else []
    found += sorted(kinds_of_parts(question)) if question else []
    return tuple(found)


def shapes_reply(options: Mapping[str, Any]) -> bool:
    """Whether the reply is to be of a format that a program reads."""
    wanted = options.get("response_format")
    return isinstance(wanted, Mapping) and wanted.get("type") != "text"


def kinds_of_parts(message: Message) -> set[str]:
    """The kinds of a message's parts that are no text."""
    content = (message.sent or {}).get("content")
    if not isinstance(content, list):
        return set()
    return {str(part.get("type")) for part in content} - set(TEXT_PARTS)


def part_text(part: Mapping[str, Any]) -> str | None:
    """The text of a part of a message; None for pictures, files and the like."""
    text = part.get("text")
    is_text = part.get("type") in TEXT_PARTS and isinstance(text, str)
    return text if is_text else None
