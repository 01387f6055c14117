"""Replies that may be long: written as JSON an item at a time, so that others have their turn."""

import json
from collections.abc import Iterable
from typing import Any

from fastapi.responses import Response
from pydantic import BaseModel

from memory_store import in_slices

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=BaseModel.model_dump)


async def list_reply(items: Iterable[BaseModel], *, name: str = "data", **others: Any) -> Response:
    """An object with the items as a list under this name, after the other fields."""
    head = _encode.encode(others)[:-1]
    opening = f"{head}{',' if others else ''}{_encode.encode(name)}:["
    written = [item.model_dump_json() async for item in in_slices(items)]
    body = f"{opening}{','.join(written)}]}}"
    return Response(body.encode(), media_type="application/json")
