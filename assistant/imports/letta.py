"""What Letta gives out: agent files (`.af`, of both forms), and messages as its API lists them.

Ids in an agent file count from zero in every file, so that they tell nothing apart. Agents are
known by their names instead, and messages by who said what when.
"""

import json
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

_ABOUT_THE_AGENT = "memory blocks about the agent itself (persona)"
_SAYING = "send_message"
_KINDS = {"user_message": Role.USER, "assistant_message": Role.ASSISTANT}
_OF_MACHINES = ("system_message", "tool_return_message")


def fits(item: Mapping[str, Any]) -> bool:
    has_agents = isinstance(item.get("agents"), list) and "blocks" in item
    return has_agents or "core_memory" in item or "message_type" in item


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    """The messages of each agent, and its memory blocks as something the user said when they were
    last changed, or with the last message. Raises `ValueError`."""
    if "message_type" in item:
        yield _listed(item)
        return
    made = first_moment(item, "created_at", "updated_at")
    blocks = {text_of(block, "id"): block for block in objects(item.get("blocks"))}
    for agent in objects(item["agents"]) if "agents" in item else [item]:
        own = list(objects(agent.get("core_memory")))
        if "agents" in item:
            ids = agent.get("block_ids") or ()
            own = [blocks[id] for id in ids if isinstance(id, str) and id in blocks]
        yield from _agent(agent, own, made)


def _agent(
    agent: Mapping[str, Any], blocks: list[Mapping[str, Any]], made: datetime | None
) -> Iterator[ImportedConversation]:
    name = text_of(agent, "name") or text_of(agent, "id")
    id = f"letta-{digest(name)}"
    messages = [_message(one) for one in objects(agent.get("messages"))]
    yield ImportedConversation(id, messages, name, began=made)
    last = max((message.at for message in messages if message.at), default=made)
    kept = [_block(block, last) for block in blocks if text_of(block, "value")]
    if kept:
        yield ImportedConversation(
            f"{id}-memory", kept, f"Memory blocks from Letta: {name}", began=last
        )


def _block(block: Mapping[str, Any], at: datetime | None) -> ImportedMessage:
    label, value = text_of(block, "label"), text_of(block, "value")
    return ImportedMessage(
        Role.USER,
        value,
        first_moment(block, "updated_at", "created_at") or at,
        id=f"{label}:{digest(value)}",
        left_out=_ABOUT_THE_AGENT if label == "persona" else "",
    )


def _message(one: Mapping[str, Any]) -> ImportedMessage:
    role = text_of(one, "role")
    text = parts_text(one.get("content")) or text_of(one, "text")
    said, left_out = text, ""
    if role == Role.ASSISTANT:
        calls = list(objects(one.get("tool_calls")))
        said = "\n".join(filter(None, map(_said_by_tool, calls))) if calls else text
        left_out = THOUGHTS if calls and not said else ""
    elif role == Role.USER:
        packed = _unpacked(text)
        said = text_of(packed, "message") if packed.get("type") == "user_message" else text
        left_out = TOOLS if packed.get("type", "user_message") != "user_message" else ""
    else:
        left_out = TOOLS
    known = None if left_out else Role(role)
    return ImportedMessage(known, said, first_moment(one, "created_at"), left_out=left_out)


def _said_by_tool(call: Mapping[str, Any]) -> str:
    """The text that an agent said to the user by calling a tool."""
    function = mapping(call.get("function"))
    return (
        text_of(_unpacked(text_of(function, "arguments")), "message")
        if (function.get("name") == _SAYING)
        else ""
    )


def _unpacked(text: str) -> Mapping[str, Any]:
    """An object that is written as JSON within a text; empty where there is none."""
    try:
        return mapping(json.loads(text)) if text.lstrip().startswith("{") else {}
    except (ValueError, RecursionError):
        return {}


def _listed(one: Mapping[str, Any]) -> ImportedConversation:
    kind = text_of(one, "message_type")
    role, at = _KINDS.get(kind), first_moment(one, "date", "created_at")
    left_out = "" if role else TOOLS if kind in _OF_MACHINES else THOUGHTS
    message = ImportedMessage(
        role, parts_text(one.get("content")), at, id=text_of(one, "id") or None, left_out=left_out
    )
    return daily("Letta", at, [message], said="Messages")


FORMAT = ExportFormat("Letta", fits, read)
