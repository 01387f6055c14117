"""Routes for whole memories: the export of everything of a user; a backup of every round of every
user, forgetting by rule, a scrub, and indexing anew."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from importlib.metadata import version
from itertools import islice
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from assistant.access.keys import KeyScope
from assistant.api.description import READING, WRITING, failures, text_reply
from assistant.api.parameters import UserInPath, where_of
from assistant.api.receipts import receipts_for
from assistant.api.replies.removal import LINES_EXAMPLE, Retained
from assistant.api.replies.service import Reindex, Scrubbed
from assistant.api.request_context import caller_of, time_of, user_in_path, user_of
from assistant.api.requests.memories import RetentionRequest
from assistant.api.route import JsonRoute, Parts
from assistant.chat.recorder import Recorder
from assistant.imports.pam_bundle import bundle
from assistant.services import Services
from assistant.surroundings import NOWHERE
from memory_store import Forgotten, RetentionRule, is_beside, whose
from memory_store.scheduler import aside, in_slices
from memory_store.transfer import ending, header, to_line, to_lines

router = APIRouter(prefix="/v1", route_class=JsonRoute)
_DAY = timedelta(days=1)
NDJSON, ZIP = "application/x-ndjson", "application/zip"
_LINES_AT_ONCE = 64
ExportAs = Annotated[
    Literal["records", "pam"],
    Query(description="`records`: our own lines. `pam`: a zip file of Portable AI Memory 1.0."),
]
Again = Annotated[bool, Query(description="Even if nothing has changed.")]
# How many characters are read in the time in which one is packed, and how many a round has beside
# its text.
_BUNDLED, _ROUND = 10, 500


@router.get(
    "/users/{user_id:path}/export",
    tags=["memories"],
    response_class=StreamingResponse,
    summary="Export everything of a user",
    responses=failures(*READING, 404)
    | text_reply("Export everything of a user", NDJSON, LINES_EXAMPLE, or_file=ZIP),
)
async def export_user(
    request: Request, parts: Parts, user_id: UserInPath, format: ExportAs = "records"
) -> Response:
    """Everything that is kept of a user, oldest first, as `application/x-ndjson`; with `format=pam`
    in the form that other products read, with a report of what has no place in it."""
    owner = await user_in_path(request, user_id)
    records = await parts.recorder.everything(owner)
    if format == "pam":
        now = time_of(request).at
        size = _BUNDLED * sum(record.round.size + _ROUND for record in records)
        packed = await aside(size, bundle, records, user_id, now, version("aide-memoire"))
        headers = {"Content-Disposition": 'attachment; filename="memories.pam.zip"'}
        return Response(packed, media_type=ZIP, headers=headers)
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"'}
    lines = to_lines(records, await _beside(parts, owner))
    return StreamingResponse(pieces(lines), media_type=NDJSON, headers=headers)


async def _beside(parts: Services, owner: str) -> dict[str, Any]:
    """What an export says of a user beside the memories."""
    kept = NOWHERE if whose(owner).space else await parts.surroundings.of(owner)
    return {} if kept == NOWHERE else {"surroundings": asdict(kept)}


async def pieces(lines: Iterable[str]) -> AsyncIterator[str]:
    """The lines, some at a time, so that other requests have their turn during a long export."""
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
    every = [owner] if owner else await parts.store.users()
    users = [one for one in every if not is_beside(one)]
    # Whoever asks for all users gets no receipt: it would be for nobody.
    receipts = await receipts_for(request, dry_run=body.dry_run or owner is None)
    all, concerned = Forgotten(), 0
    for one in users:
        gone = await parts.recorder.forget(one, rule=rule, dry_run=body.dry_run)
        all += gone if owner else replace(gone, gone=())
        concerned += bool(gone)
    return Retained.of(
        all,
        object="retention",
        dry_run=body.dry_run,
        users=concerned,
        now=now,
        receipt=await receipts.removed(owner or "", all),
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
