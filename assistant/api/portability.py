"""Routes that take a user's memory out as lines of JSON, and bring it in again."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from assistant.access.keys import Scope
from assistant.api.description import READING, WRITING, failures, text_content, text_reply
from assistant.api.parameters import UserInPath
from assistant.api.replies.removal import LINES_EXAMPLE, ImportedMemories
from assistant.api.request_context import caller_of, checked_id, user_in_path
from assistant.api.route import Changes, JsonRoute, Parts
from assistant.chat.turns import Arriving
from assistant.errors import InvalidRequest
from assistant.imports.reading import read_export
from assistant.imports.recognised import Export, recognised
from assistant.services import Services
from memory_store import Record, whose
from memory_store.scheduler import aside, in_slices
from memory_store.transfer import from_lines, to_lines

router = APIRouter(prefix="/v1/users", tags=["memories"], route_class=JsonRoute)
NDJSON = "application/x-ndjson"
_LINES_AT_ONCE = 64
Format = Annotated[
    Literal["records", "auto", "chatgpt"],
    Query(description="`records`: an export of this assistant. `auto`: found out by its content."),
]
DryRun = Annotated[bool, Query(description="Only count what would be stored.")]
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
    request: Request,
    parts: Parts,
    user_id: UserInPath,
    format: Format = "records",
    dry_run: DryRun = False,
) -> ImportedMemories:
    """Store the lines of an export as this user's; rounds that are there stay as they are.

    With `format=auto` the body is an export of this assistant or of another one, or a zip file of
    it; which one is found out by its content. `format=chatgpt` is the older name of that.
    """
    owner = await user_in_path(request, user_id)
    # Records say themselves when they were said.
    caller_of(request).checked_scope(Scope.SET_TIME)
    is_ours = format == "records" or recognised(await request.body()) is Export.RECORDS
    bring_in = _bring_in_records if is_ours else _bring_in_others
    done = await bring_in(request, parts, owner, dry_run)
    return ImportedMemories(
        object="user.memories.imported",
        **whose(owner)._asdict(),
        imported=done.new,
        known=done.known,
        unreadable=list(done.unreadable),
        left_out=dict(done.left_out),
        formats=list(done.formats),
        dry_run=dry_run,
    )


class _BroughtIn(NamedTuple):
    """How many rounds were new, how many were there, and what was not brought in."""

    new: int
    known: int
    unreadable: Sequence[str] = ()
    left_out: Mapping[str, int] = MappingProxyType({})
    formats: Sequence[str] = ()


async def _bring_in_records(
    request: Request, parts: Services, owner: str, dry_run: bool
) -> _BroughtIn:
    records = []
    async for record in in_slices(from_lines(await _lines(request))):
        checked_id(record.round.session_id, "session_id")
        records.append(record)
    if dry_run:
        there = {_place(record) for record in await parts.store.records(owner)}
        new = len({_place(record) for record in records} - there)
    else:
        new = await parts.recorder.bring_in(owner, records)
    return _BroughtIn(new, len(records) - new, formats=[Export.RECORDS])


def _place(record: Record) -> tuple[str, int]:
    return record.round.session_id, record.round.round_index


async def _bring_in_others(
    request: Request, parts: Services, owner: str, dry_run: bool
) -> _BroughtIn:
    most_bytes = parts.settings.max_body_bytes * _UNPACKED
    body = await request.body()
    found = await aside(len(body), read_export, body, most_bytes=most_bytes)
    new = 0
    for session in found.sessions:
        if dry_run:
            there = [
                record.round for record in await parts.store.session(owner, session.session_id)
            ]
            arriving = Arriving(owner, session.session_id, session.turns)
            new += len(await aside(len(session.turns), arriving.plan, there))
            continue
        recorded = await parts.recorder.record(
            owner, session.session_id, session.turns, session.title
        )
        new += len(recorded.rounds)
    known = found.count_rounds() - new
    return _BroughtIn(new, known, found.unreadable, found.left_out, found.formats)


async def _lines(request: Request) -> list[str]:
    body = await request.body()
    if recognised(body) is Export.OTHERS:
        raise InvalidRequest(
            "this is not an export of ours: another assistant's is sent with format=auto"
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
