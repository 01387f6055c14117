"""A memory of the Open Memory Protocol (https://github.com/SMJAI/open-memory-protocol, version
0.1): a statement about the user, as a tool wrote it down."""

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
    mapping,
    text_of,
)

_KINDS = ("episodic", "semantic", "procedural")


def fits(item: Mapping[str, Any]) -> bool:
    return item.get("type") in _KINDS and "tool" in mapping(item.get("source"))


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    """The memory as something the user said on its day. Raises `ValueError`."""
    text, source = text_of(item, "content"), mapping(item.get("source"))
    made = first_moment(source, "timestamp") or first_moment(item, "created_at")
    id = f"{text_of(item, 'id')}:{digest(text)}"
    said = ImportedMessage(Role.USER, text, first_moment(item, "updated_at") or made, id=id)
    yield daily(text_of(source, "tool") or "OMP", made, [said], text_of(source, "user_id"))


FORMAT = ExportFormat("Open Memory Protocol", fits, read)
