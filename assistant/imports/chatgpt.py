"""A conversation of a ChatGPT data export: a tree of messages that ends at its `current_node`."""

from collections.abc import Iterator, Mapping
from typing import Any

from assistant.characters import whole_characters
from assistant.chat.turns import Role
from assistant.imports.conversations import (
    HIDDEN,
    THOUGHTS,
    TOOLS,
    ExportFormat,
    ImportedConversation,
    ImportedMessage,
    mapping,
    moment,
    text_of,
)

_TEXTS = ("text", "multimodal_text")
_UNNAMED = "New chat"


def fits(item: Mapping[str, Any]) -> bool:
    return "mapping" in item


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    id = text_of(item, "conversation_id", "id")
    if not id:
        raise ValueError("it has no id")
    if not isinstance(item["mapping"], Mapping):
        raise ValueError("its mapping is no object")
    title = text_of(item, "title")
    yield ImportedConversation(
        f"chatgpt-{id}",
        [_message(name, node) for name, node in item["mapping"].items()],
        title if title.strip() != _UNNAMED else "",
        began=moment(item.get("create_time")),
        is_tree=True,
        last=item.get("current_node"),
    )


def _message(name: str, node: Any) -> ImportedMessage:
    parent, message = node.get("parent"), node.get("message")
    if not message:
        return ImportedMessage(None, node=name, parent=parent)
    role = message["author"]["role"]
    content = mapping(message.get("content"))
    left_out = ""
    if role not in list(Role):
        left_out = TOOLS
    elif mapping(message.get("metadata")).get("is_visually_hidden_from_conversation"):
        left_out = HIDDEN
    elif message.get("recipient") not in (None, "all") or content.get("content_type") not in _TEXTS:
        left_out = THOUGHTS
    return ImportedMessage(
        None if left_out else Role(role),
        "\n".join(filter(str.strip, map(_part_text, content.get("parts") or ()))),
        moment(message.get("create_time")),
        id=message["id"],
        node=name,
        parent=parent,
        left_out=left_out,
    )


def _part_text(part: Any) -> str:
    """The text of a part: written, or spoken and transcribed. Pictures and files have none."""
    if isinstance(part, Mapping):
        part = part.get("text")
    return whole_characters(part) if isinstance(part, str) else ""


FORMAT = ExportFormat("ChatGPT", fits, read)
