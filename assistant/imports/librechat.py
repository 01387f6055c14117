"""A conversation that LibreChat exports as JSON: a list of messages that name their parents, or
(recursive) a tree of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from assistant.chat.turns import Role
from assistant.imports.conversations import (
    ExportFormat,
    ImportedConversation,
    ImportedMessage,
    first_moment,
    objects,
    parts_text,
    text_of,
)

_ERRORS = "error messages"


def fits(item: Mapping[str, Any]) -> bool:
    shown = item.get("messages") or item.get("messagesTree")
    return "conversationId" in item and isinstance(shown, list)


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    id = text_of(item, "conversationId")
    if not id:
        raise ValueError("it has no conversationId")
    messages = list(_messages(item.get("messages") or item.get("messagesTree")))
    yield ImportedConversation(
        f"librechat-{id}",
        messages,
        text_of(item, "title"),
        began=first_moment(item, "createdAt"),
        is_tree=any(message.parent for message in messages),
        owner=text_of(item, "user"),
    )


def _messages(listed: Any) -> Iterator[ImportedMessage]:
    waiting = list(objects(listed))[::-1]
    while waiting:
        one = waiting.pop()
        waiting += list(objects(one.get("children")))[::-1]
        yield ImportedMessage(
            Role.USER if one.get("isCreatedByUser") else Role.ASSISTANT,
            text_of(one, "text") or parts_text(one.get("content")),
            first_moment(one, "createdAt", "updatedAt"),
            id=text_of(one, "messageId") or None,
            parent=text_of(one, "parentMessageId") or None,
            left_out=_ERRORS if one.get("error") else "",
        )


FORMAT = ExportFormat("LibreChat", fits, read)
