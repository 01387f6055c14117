"""Routes for whole memories: a user's taken out as lines of JSON and brought in again; a backup of
every round of every user, what goes by rule, a scrub, and indexing anew."""

import codecs
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from assistant.access.keys import KeyScope
from assistant.api.description import READING, WRITING, failures, text_content, text_reply
from assistant.api.parameters import UserInPath, where_of
from assistant.api.replies.removal import LINES_EXAMPLE, ImportedMemories, Retained
from assistant.api.replies.service import Reindex, Scrubbed
from assistant.api.request_context import caller_of, checked_id, time_of, user_in_path, user_of
from assistant.api.requests.memories import RetentionRequest
from assistant.api.route import JsonRoute, Parts
from assistant.chat.recorder import Recorder
from assistant.chat.turns import Arriving
from assistant.errors import InvalidRequest
from assistant.imports.reading import read_export, utf8_text
from assistant.imports.recognised import Export, recognised
from assistant.services import Services
from memory_store import Forgotten, Record, RetentionRule, whose
from memory_store.scheduler import aside, in_slices
from memory_store.transfer import ending, from_lines, header, to_line, to_lines

router = APIRouter(prefix="/v1", route_class=JsonRoute)
_DAY = timedelta(days=1)
NDJSON = "application/x-ndjson"
_LINES_AT_ONCE = 64
Format = Annotated[
    Literal["records", "auto", "chatgpt"],
    Query(description="`records`: an export of this assistant. `auto`: found out by its content."),
]
DryRun = Annotated[bool, Query(description="Only count what would be stored.")]
Again = Annotated[bool, Query(description="Even if nothing has changed.")]
# How many times as large as a request a zip file in it may be when it is unpacked.
_UNPACKED = 32


@router.get(
    "/users/{user_id:path}/export",
    tags=["memories"],
    response_class=StreamingResponse,
    summary="Export everything of a user",
    responses=failures(*READING, 404)
    | text_reply("Export everything of a user", NDJSON, LINES_EXAMPLE),
)
async def export_user(request: Request, parts: Parts, user_id: UserInPath) -> StreamingResponse:
    """Everything that is kept of a user, oldest first, as `application/x-ndjson`."""
    records = await parts.recorder.everything(await user_in_path(request, user_id))
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"'}
    return StreamingResponse(pieces(to_lines(records)), media_type=NDJSON, headers=headers)


@router.post(
    "/users/{user_id:path}/import",
    tags=["memories"],
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
    caller_of(request).checked_scope(KeyScope.SET_TIME)
    is_ours = format == "records" or recognised(await request.body()) is Export.RECORDS
    bring_in = _bring_in_records if is_ours else _bring_in_others
    done = await bring_in(request, parts, owner, dry_run)
    told = {"object": "user.memories.imported", "imported": done.new, "dry_run": dry_run}
    return ImportedMemories.of(done, **told, **whose(owner)._asdict())


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
    return utf8_text(body.removeprefix(codecs.BOM_UTF8)).split("\n")


async def pieces(lines: Iterable[str]) -> AsyncIterator[str]:
    """The lines, some at a time; a long export lets other requests through."""
    left = iter(lines)
    while some := [f"{one}\n" async for one in in_slices(islice(left, _LINES_AT_ONCE))]:
        yield "".join(some)


@router.get(
    "/backup",
    tags=["service"],
    response_class=StreamingResponse,
    summary="Back up everything of all users",
    responses=failures(503) | text_reply("Back up everything of all users", NDJSON, LINES_EXAMPLE),
)
async def back_up(request: Request, parts: Parts) -> StreamingResponse:
    """The lines that `assistant restore` reads, user by user, each user's as at one moment."""
    caller_of(request).checked_scope(KeyScope.ADMIN)
    users = await parts.store.users()
    headers = {"Content-Disposition": 'attachment; filename="backup.jsonl"'}
    return StreamingResponse(
        _backup_lines(parts.recorder, users), media_type=NDJSON, headers=headers
    )


async def _backup_lines(recorder: Recorder, users: Sequence[str]) -> AsyncIterator[str]:
    yield f"{header()}\n"
    count = 0
    for user_id in users:
        records = await recorder.everything(user_id)
        count += len(records)
        async for piece in pieces(map(to_line, records)):
            yield piece
    yield f"{ending(count)}\n"


@router.post(
    "/retention", tags=["service"], summary="Forget by rule", responses=failures(*WRITING, 413)
)
async def retain(request: Request, parts: Parts, body: RetentionRequest) -> Retained:
    """Forget what has expired, and with `older_than_days` what was said more days ago; with `where`
    only what is labelled like this, with `dry_run` nothing: it is only counted. Nothing goes by
    itself: call this from a timer. `all_users` is for the admin."""
    if body.all_users:
        caller_of(request).checked_scope(KeyScope.ADMIN)
    owner = None if body.all_users else await user_of(request, body.user_id, space=body.space)
    asked = time_of(request, body.now, param="now")
    now = asked.at
    until = None
    if body.older_than_days is not None:
        until = now.date() - (body.older_than_days + 1) * _DAY
    rule = RetentionRule(now, until, where_of(body.where), asked.zone)
    users = await parts.store.users() if owner is None else [owner]
    gone = [await parts.recorder.forget(one, rule=rule, dry_run=body.dry_run) for one in users]
    return Retained.of(
        sum(gone, Forgotten()),
        object="retention",
        dry_run=body.dry_run,
        users=sum(map(bool, gone)),
        now=now,
    )


@router.post("/scrub", tags=["service"], summary="Scrub the disk", responses=failures(403, 503))
async def scrub(request: Request, parts: Parts) -> Scrubbed:
    """Take everything that was forgotten or put right off the disk of an embedded memory: its files
    are written anew. Others go on meanwhile, and wait at the end for about a quarter of a second
    for each ten thousand rounds. A Qdrant server clears its files by itself: `scrubbed` is false
    then."""
    caller_of(request).checked_scope(KeyScope.ADMIN)
    return Scrubbed(object="scrub", scrubbed=await parts.store.scrub())


@router.post(
    "/reindex", tags=["service"], summary="Index the memory anew", responses=failures(403, 409, 503)
)
async def reindex(request: Request, parts: Parts, again: Again = False) -> Reindex:
    """Begin to index the memory anew by the embedder of the settings, in the background: everybody
    goes on, served by the old index until the new one is complete. Where that runs already,
    `started` is false. What the end of a server interrupts is gone on with after the next start.
    Several workers cannot do this: 409."""
    caller_of(request).checked_scope(KeyScope.ADMIN)
    started = parts.reindexing.start(again=again)
    return Reindex.of_progress(parts.reindexing.progress, parts.embedder, started=started)


@router.get(
    "/reindex", tags=["service"], summary="How far indexing anew is", responses=failures(403)
)
async def reindex_progress(request: Request, parts: Parts) -> Reindex:
    """How far it is, or how it ended, since the start of the server; and what the memory is
    searched by now."""
    caller_of(request).checked_scope(KeyScope.ADMIN)
    return Reindex.of_progress(parts.reindexing.progress, parts.embedder, started=False)
