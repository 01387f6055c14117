"""Replies that may be long: written as JSON an item at a time, so that others have their turn."""

import json
from collections.abc import Iterable
from typing import Any

from fastapi.responses import Response

from memory_store import in_slices

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


async def list_reply(items: Iterable[Any], *, name: str = "data", **others: Any) -> Response:
    """An object with the items as a list under this name, after the other fields."""
    head = _encode(others)[:-1]
    opening = f"{head}{',' if others else ''}{_encode(name)}:["
    written = [_encode(item) async for item in in_slices(items)]
    body = f"{opening}{','.join(written)}]}}"
    return Response(body.encode(), media_type="application/json")
