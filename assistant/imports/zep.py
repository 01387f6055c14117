"""What Zep gives out: sessions (or threads) of messages, and facts of its graph."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from assistant.chat.turns import Role
from assistant.imports.conversations import (
    TOOLS,
    ExportFormat,
    ImportedConversation,
    ImportedMessage,
    daily,
    digest,
    first_moment,
    mapping,
    objects,
    text_of,
)

_ENDED = "facts that are marked as no longer true"


def fits(item: Mapping[str, Any]) -> bool:
    if ("fact" in item and "uuid" in item) or "role_type" in item:
        return True
    messages = list(objects(item.get("messages")))
    has_session = "session_id" in item or "thread_id" in item
    return (has_session and isinstance(item.get("facts"), list)) or any(
        "role_type" in one or ("uuid" in one and "role" in one) for one in messages
    )


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    """The session with its messages; facts as something the user said on their day. Raises
    `ValueError`."""
    owner, began = text_of(item, "user_id"), first_moment(item, "created_at")
    if "role_type" in item:
        yield daily("Zep", began, [_message(item)], owner, "Messages")
    elif "fact" in item:
        yield _fact(item, None, owner)
    id = text_of(item, "session_id", "thread_id")
    messages = [_message(one) for one in objects(item.get("messages"))]
    if id and messages:
        yield ImportedConversation(f"zep-{id}", messages, began=began, owner=owner)
    elif not id:
        for message in messages:
            yield daily("Zep", message.at or began, [message], owner, "Messages")
    for fact in item.get("facts") or ():
        yield _fact({"fact": fact} if isinstance(fact, str) else mapping(fact), began, owner)


def _fact(fact: Mapping[str, Any], began: datetime | None, owner: str) -> ImportedConversation:
    text = text_of(fact, "fact", "content")
    made = first_moment(fact, "created_at", "valid_at") or began
    has_ended = any(fact.get(name) for name in ("invalid_at", "expired_at"))
    id = f"{text_of(fact, 'uuid')}:{digest(text)}"
    said = ImportedMessage(Role.USER, text, made, id=id, left_out=_ENDED if has_ended else "")
    return daily("Zep", made, [said], owner, "Facts")


def _message(one: Mapping[str, Any]) -> ImportedMessage:
    kind = text_of(one, "role_type") or text_of(one, "role")
    role = Role(kind) if kind in list(Role) else None
    name = text_of(one, "role" if "role_type" in one else "name")
    return ImportedMessage(
        role,
        text_of(one, "content"),
        first_moment(one, "created_at"),
        id=text_of(one, "uuid") or None,
        left_out="" if role else TOOLS,
        name=name if name not in ("", kind) else None,
    )


FORMAT = ExportFormat("Zep", fits, read)
