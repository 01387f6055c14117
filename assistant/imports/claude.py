"""A conversation of a Claude data export (`conversations.json`): messages of content blocks."""

from collections.abc import Iterator, Mapping
from typing import Any

from assistant.chat.turns import Role
from assistant.imports.conversations import (
    THOUGHTS,
    TOOLS,
    ExportFormat,
    ImportedConversation,
    ImportedMessage,
    first_moment,
    objects,
    parts_text,
    text_of,
)

_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}


def fits(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("chat_messages"), list)


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    id = text_of(item, "uuid", "id")
    if not id:
        raise ValueError("it has no uuid")
    messages = [_message(one) for one in objects(item["chat_messages"])]
    last = text_of(item, "current_leaf_message_uuid")
    yield ImportedConversation(
        f"claude-{id}",
        messages,
        text_of(item, "name"),
        began=first_moment(item, "created_at"),
        # Older exports hold only what was seen, in order.
        is_tree=any(message.parent for message in messages),
        last=last or None,
    )


def _message(one: Mapping[str, Any]) -> ImportedMessage:
    role = _ROLES.get(text_of(one, "sender"))
    blocks = list(objects(one.get("content")))
    # The plain text also tells of blocks that cannot be shown in it.
    text = parts_text(blocks) if blocks else text_of(one, "text")
    only_thoughts = role is Role.ASSISTANT and bool(blocks) and not text
    return ImportedMessage(
        role,
        text,
        first_moment(one, "created_at"),
        id=text_of(one, "uuid") or None,
        parent=text_of(one, "parent_message_uuid") or None,
        left_out=TOOLS if role is None else THOUGHTS if only_thoughts else "",
    )


FORMAT = ExportFormat("Claude", fits, read)
