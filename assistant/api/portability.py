"""Routes that take a user's memory out as lines of JSON, and bring it in again."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from itertools import islice
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from assistant.access.keys import Scope
from assistant.api.call import caller_of, checked_id, services, user_of
from assistant.errors import InvalidRequest
from memory_store import from_lines, to_lines

router = APIRouter(prefix="/v1/users", tags=["memories"])
_LINES_AT_ONCE = 64


@router.get("/{user_id:path}/export", response_class=StreamingResponse)
async def export_user(request: Request, user_id: str) -> StreamingResponse:
    """Everything that is kept of a user, oldest first, as `application/x-ndjson`."""
    records = await services(request).store.records(user_of(request, user_id))
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"'}
    return StreamingResponse(
        _pieces(to_lines(records)), media_type="application/x-ndjson", headers=headers
    )


@router.post("/{user_id:path}/import")
async def import_user(request: Request, user_id: str) -> Mapping[str, Any]:
    """Store the lines of an export as this user's; rounds that are there stay as they are."""
    owner = user_of(request, user_id)
    # Records say themselves when they were said.
    caller_of(request).checked_scope(Scope.SET_TIME)
    records = list(from_lines(await _lines(request)))
    for record in records:
        checked_id(record.round.session_id, "session_id")
    new = await services(request).recorder.bring_in(owner, records)
    return {
        "object": "user.memories.imported",
        "user_id": owner,
        "imported": new,
        "known": len(records) - new,
    }


async def _lines(request: Request) -> list[str]:
    try:
        lines = (await request.body()).decode().split("\n")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"the body is not UTF-8: {error.reason}") from error
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise InvalidRequest("the body is empty: send the lines of an export")
    return lines


async def _pieces(lines: Iterable[str]) -> AsyncIterator[str]:
    left = iter(lines)
    while some := list(islice(left, _LINES_AT_ONCE)):
        yield "".join(f"{line}\n" for line in some)
        await asyncio.sleep(0)  # a long export lets other requests through
