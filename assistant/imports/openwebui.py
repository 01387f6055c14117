"""A chat of an Open WebUI export: `chat.history` is a tree of messages, of which `currentId` was
seen last."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from assistant.chat.turns import Role
from assistant.imports.conversations import (
    TOOLS,
    ExportFormat,
    ImportedConversation,
    ImportedMessage,
    first_moment,
    mapping,
    objects,
    parts_text,
    text_of,
)

# Thoughts and calls of tools stand in an answer as folded sections.
_FOLDED = re.compile(r"<details\s([^<>]*)>(?:(?!<details\s).)*?</details>\s*", re.S)


def fits(item: Mapping[str, Any]) -> bool:
    chat = mapping(item.get("chat"))
    return "history" in chat or "messages" in chat


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    id = text_of(item, "id")
    if not id:
        raise ValueError("it has no id")
    chat = item["chat"]
    history = mapping(chat.get("history"))
    nodes = mapping(history.get("messages"))
    messages = [_message(one, name) for name, one in nodes.items() if isinstance(one, Mapping)]
    yield ImportedConversation(
        f"open-webui-{id}",
        messages or [_message(one, None) for one in objects(chat.get("messages"))],
        text_of(item, "title") or text_of(chat, "title"),
        began=first_moment(item, "created_at") or first_moment(chat, "timestamp"),
        is_tree=bool(messages),
        last=text_of(history, "currentId") or None,
        owner=text_of(item, "user_id"),
    )


def _message(one: Mapping[str, Any], name: str | None) -> ImportedMessage:
    role = text_of(one, "role")
    known = Role(role) if role in list(Role) else None
    text = parts_text(one.get("content"))
    return ImportedMessage(
        known,
        _FOLDED.sub(_own, text).strip() if known is Role.ASSISTANT else text,
        first_moment(one, "timestamp"),
        id=text_of(one, "id") or name,
        node=name,
        parent=text_of(one, "parentId") or None,
        left_out="" if known else TOOLS,
    )


def _own(folded: re.Match[str]) -> str:
    """Keep a folded section that the model wrote as part of its answer, and drop all others."""
    return "" if 'type="' in folded[1] else folded[0]


FORMAT = ExportFormat("Open WebUI", fits, read)
