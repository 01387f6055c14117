"""Portable AI Memory 1.0 (https://portable-ai-memory.org): memories without a conversation, and
conversations, each a file; together in a zip file. A zip file that we wrote gives back every round
as it was (`pam_bundle`)."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from assistant.chat.turns import Role
from assistant.imports.conversations import (
    THOUGHTS,
    TOOLS,
    ExportFormat,
    ImportedConversation,
    ImportedMessage,
    daily,
    digest,
    first_moment,
    mapping,
    objects,
    parts_text,
    text_of,
)

STORE, CONVERSATION = "portable-ai-memory", "portable-ai-memory-conversation"
OURS = "aide-memoire"
_TEXTS = ("text", "code")
_HOLDS = "active"
_ENDED = "memories that are marked as no longer true"
_COMES_ALONG = "memories found in conversations that come along"


def fits(item: Mapping[str, Any]) -> bool:
    return item.get("schema") in (STORE, CONVERSATION)


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    """The conversation; or memories as something the user said on their day. Raises
    `ValueError`."""
    # The version concerns no memory: asking for it only keeps it from being named as unread.
    text_of(item, "schema_version")
    if item.get("schema") == CONVERSATION:
        yield _conversation(item)
        return
    owner = text_of(mapping(item.get("owner")), "id")
    for memory in objects(item.get("memories")):
        yield _memory(memory, owner)


def _memory(memory: Mapping[str, Any], owner: str) -> ImportedConversation:
    text, origin = text_of(memory, "content"), mapping(memory.get("provenance"))
    platform = text_of(origin, "platform") or "PAM"
    times = mapping(memory.get("temporal"))
    made = first_moment(times, "created_at")
    left_out = "" if memory.get("status", _HOLDS) == _HOLDS else _ENDED
    if platform == OURS and text_of(origin, "conversation_ref"):
        left_out = _COMES_ALONG
    said = ImportedMessage(
        Role.USER,
        text,
        first_moment(times, "updated_at") or made,
        id=f"{text_of(memory, 'id')}:{digest(text)}",
        left_out=left_out,
    )
    return daily(platform, made, [said], owner)


def _conversation(item: Mapping[str, Any]) -> ImportedConversation:
    id = text_of(item, "id")
    if not id:
        raise ValueError("it has no id")
    platform = text_of(mapping(item.get("provider")), "name")
    names = dict(_names(item, platform))
    messages = [_message(one, names) for one in objects(item.get("messages"))]
    return ImportedConversation(
        id if platform == OURS else f"{platform or 'pam'}-{id}",
        messages,
        text_of(item, "title"),
        began=_began(item),
        is_tree=any(message.parent for message in messages),
    )


def _names(item: Mapping[str, Any], platform: str) -> Iterator[tuple[str, str]]:
    """The names of the participants by role, without those that only say the role or the
    product."""
    for one in objects(item.get("participants")):
        role, name = text_of(one, "role"), text_of(one, "name")
        if name.lower() not in ("", role, platform):
            yield role, name


def _began(item: Mapping[str, Any]) -> datetime | None:
    return first_moment(mapping(item.get("temporal")), "created_at")


def _message(one: Mapping[str, Any], names: Mapping[str, str]) -> ImportedMessage:
    role = text_of(one, "role")
    content = mapping(one.get("content"))
    text = text_of(content, "text") or parts_text(content.get("parts"), _TEXTS)
    left_out = THOUGHTS if one.get("is_thought") else "" if role in list(Role) else TOOLS
    return ImportedMessage(
        Role(role) if role in list(Role) else None,
        text,
        first_moment(one, "created_at"),
        id=text_of(one, "id") or None,
        parent=text_of(one, "parent_id") or None,
        left_out=left_out,
        name=names.get(role),
    )


FORMAT = ExportFormat("Portable AI Memory", fits, read)
