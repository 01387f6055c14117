"""A memory as mem0 lists and exports it: a statement about the user, without a conversation."""

from collections.abc import Iterator, Mapping
from typing import Any

from assistant.chat.turns import Role
from assistant.imports.conversations import (
    ExportFormat,
    ImportedConversation,
    ImportedMessage,
    daily,
    digest,
    first_moment,
    text_of,
)


def fits(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("memory"), str)


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    """The memory as something the user said on its day. Raises `ValueError`."""
    text = text_of(item, "memory")
    made = first_moment(item, "created_at", "updated_at")
    # The text is a part of the id: a memory that mem0 has changed is another one.
    id = f"{text_of(item, 'id')}:{digest(text)}"
    said = ImportedMessage(Role.USER, text, first_moment(item, "updated_at") or made, id=id)
    yield daily("mem0", made, [said], text_of(item, "user_id"))


FORMAT = ExportFormat("mem0", fits, read)
