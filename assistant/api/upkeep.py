"""Routes for the upkeep of a running memory: a backup of every round of every user, what goes by
rule, and a scrub."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from assistant.access.keys import Scope
from assistant.api.description import WRITING, failures, text_reply
from assistant.api.parameters import where_of
from assistant.api.portability import NDJSON, pieces
from assistant.api.replies.removal import LINES_EXAMPLE, Retained
from assistant.api.replies.service import Scrubbed
from assistant.api.request_context import caller_of, time_of, user_of
from assistant.api.requests.memories import RetentionRequest
from assistant.api.route import Changes, JsonRoute, Parts, Store
from assistant.chat.recorder import Recorder
from memory_store import Forgotten, RetentionRule
from memory_store.transfer import ending, header, to_line

router = APIRouter(prefix="/v1", tags=["service"], route_class=JsonRoute)
_DAY = timedelta(days=1)


@router.get(
    "/backup",
    response_class=StreamingResponse,
    summary="Back up everything of all users",
    responses=failures(503) | text_reply("Back up everything of all users", NDJSON, LINES_EXAMPLE),
)
async def back_up(request: Request, parts: Parts) -> StreamingResponse:
    """The lines that `assistant restore` reads, user by user, each user's as at one moment."""
    caller_of(request).checked_scope(Scope.ADMIN)
    users = await parts.store.users()
    headers = {"Content-Disposition": 'attachment; filename="backup.jsonl"'}
    return StreamingResponse(_lines(parts.recorder, users), media_type=NDJSON, headers=headers)


async def _lines(recorder: Recorder, users: Sequence[str]) -> AsyncIterator[str]:
    yield f"{header()}\n"
    count = 0
    for user_id in users:
        records = await recorder.everything(user_id)
        count += len(records)
        async for piece in pieces(map(to_line, records)):
            yield piece
    yield f"{ending(count)}\n"


@router.post("/retention", summary="Forget by rule", responses=failures(*WRITING, 413))
async def retain(
    request: Request, store: Store, recorder: Changes, body: RetentionRequest
) -> Retained:
    """Forget what has expired, and with `older_than_days` what was said more days ago; with `where`
    only what is labelled like this, with `dry_run` nothing: it is only counted. Nothing goes by
    itself: call this from a timer. `all_users` is for the admin."""
    if body.all_users:
        caller_of(request).checked_scope(Scope.ADMIN)
    owner = None if body.all_users else await user_of(request, body.user_id, space=body.space)
    now = time_of(request, body.now, param="now").at
    until = None
    if body.older_than_days is not None:
        until = now.date() - (body.older_than_days + 1) * _DAY
    rule = RetentionRule(now, until, where_of(body.where))
    users = await store.users() if owner is None else [owner]
    gone = [await recorder.forget(one, rule=rule, dry_run=body.dry_run) for one in users]
    return Retained.of(
        sum(gone, Forgotten()),
        object="retention",
        dry_run=body.dry_run,
        users=sum(map(bool, gone)),
        now=now,
    )


@router.post("/scrub", summary="Scrub the disk", responses=failures(403, 503))
async def scrub(request: Request, store: Store) -> Scrubbed:
    """Take everything that was forgotten or put right off the disk of an embedded memory: its files
    are written anew. Others go on meanwhile, and wait at the end for about a quarter of a second
    for each ten thousand rounds. A Qdrant server clears its files by itself: `scrubbed` is false
    then."""
    caller_of(request).checked_scope(Scope.ADMIN)
    return Scrubbed(object="scrub", scrubbed=await store.scrub())
