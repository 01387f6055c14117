"""Server-sent events as text."""

import json
from collections.abc import Mapping
from typing import Any

from assistant.api.replies import Reply

DONE = "data: [DONE]\n\n"


def event(body: Mapping[str, Any], name: str | None = None) -> str:
    """One event, with its name where the protocol gives it one."""
    data = f"data: {json.dumps(body, ensure_ascii=False, default=_plain)}\n\n"
    return data if name is None else f"event: {name}\n{data}"


def _plain(reply: Reply) -> dict[str, Any]:
    return reply.model_dump(mode="json", exclude_unset=True)
