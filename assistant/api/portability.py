"""Routes that take a user's memory out as lines of JSON, and bring it in again."""

from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import islice
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from assistant.access.keys import Scope
from assistant.api.dependencies import Changes, Parts
from assistant.api.description import text_content, text_reply
from assistant.api.failures import READING, WRITING, failures
from assistant.api.parameters import UserInPath
from assistant.api.replies.removal import LINES_EXAMPLE, ImportedMemories
from assistant.api.request_context import caller_of, checked_id, user_in_path
from assistant.api.route import JsonRoute
from assistant.errors import InvalidRequest
from assistant.imports.chatgpt import read_chatgpt
from assistant.imports.recognised import Export, recognised
from assistant.services import Services
from memory_store import aside, from_lines, in_slices, to_lines, whose

router = APIRouter(prefix="/v1/users", tags=["memories"], route_class=JsonRoute)
NDJSON = "application/x-ndjson"
_LINES_AT_ONCE = 64
Format = Annotated[Literal["records", "chatgpt"], Query(description="What the body is.")]
# How many times as large as a request a zip file in it may be when it is unpacked.
_UNPACKED = 32


@router.get(
    "/{user_id:path}/export",
    response_class=StreamingResponse,
    summary="Export everything of a user",
    responses=failures(*READING, 404)
    | text_reply("Export everything of a user", NDJSON, LINES_EXAMPLE),
)
async def export_user(
    request: Request, recorder: Changes, user_id: UserInPath
) -> StreamingResponse:
    """Everything that is kept of a user, oldest first, as `application/x-ndjson`."""
    records = await recorder.everything(await user_in_path(request, user_id))
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"'}
    return StreamingResponse(pieces(to_lines(records)), media_type=NDJSON, headers=headers)


@router.post(
    "/{user_id:path}/import",
    summary="Import memories",
    openapi_extra={
        "requestBody": {"content": text_content(NDJSON, LINES_EXAMPLE), "required": True}
    },
    responses=failures(*WRITING, 404, 413),
)
async def import_user(
    request: Request, parts: Parts, user_id: UserInPath, format: Format = "records"
) -> ImportedMemories:
    """Store the lines of an export as this user's; rounds that are there stay as they are.

    With `format=chatgpt` the body is a ChatGPT data export: `conversations.json` or its zip file.
    """
    owner = await user_in_path(request, user_id)
    # Records say themselves when they were said.
    caller_of(request).checked_scope(Scope.SET_TIME)
    bring_in = _bring_in_chatgpt if format == "chatgpt" else _bring_in_records
    done = await bring_in(request, parts, owner)
    return ImportedMemories(
        object="user.memories.imported",
        **whose(owner)._asdict(),
        imported=done.new,
        known=done.known,
        unreadable=list(done.unreadable),
    )


class _BroughtIn(NamedTuple):
    """How many rounds were new, how many were there, and what could not be read."""

    new: int
    known: int
    unreadable: Sequence[str] = ()


async def _bring_in_records(request: Request, parts: Services, owner: str) -> _BroughtIn:
    records = []
    async for record in in_slices(from_lines(await _lines(request))):
        checked_id(record.round.session_id, "session_id")
        records.append(record)
    new = await parts.recorder.bring_in(owner, records)
    return _BroughtIn(new, len(records) - new)


async def _bring_in_chatgpt(request: Request, parts: Services, owner: str) -> _BroughtIn:
    most_bytes = parts.settings.max_body_bytes * _UNPACKED
    body = await request.body()
    found = await aside(len(body), read_chatgpt, body, most_bytes=most_bytes)
    new = 0
    for session in found.sessions:
        recorded = await parts.recorder.record(
            owner, session.session_id, session.turns, session.title
        )
        new += len(recorded.rounds)
    return _BroughtIn(new, found.count_rounds() - new, found.unreadable)


async def _lines(request: Request) -> list[str]:
    body = await request.body()
    if recognised(body) is Export.CHATGPT:
        raise InvalidRequest(
            "this is not an export of ours: it seems to be ChatGPT's, which is sent with "
            "format=chatgpt"
        )
    try:
        lines = body.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise InvalidRequest(f"line {line} cannot be read: it is not text in UTF-8") from error
    return [line for line in lines if line.strip()]


async def pieces(lines: Iterable[str]) -> AsyncIterator[str]:
    """The lines, some at a time; a long export lets other requests through."""
    left = iter(lines)
    while some := [f"{one}\n" async for one in in_slices(islice(left, _LINES_AT_ONCE))]:
        yield "".join(some)
