"""Routes for the upkeep of a running memory: a backup of every round of every user, and a scrub."""

from collections.abc import AsyncIterator, Sequence

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from assistant.access.keys import Scope
from assistant.api.dependencies import Parts, Store
from assistant.api.description import text_reply
from assistant.api.failures import failures
from assistant.api.portability import NDJSON, pieces
from assistant.api.replies.removal import LINES_EXAMPLE
from assistant.api.replies.service import Scrubbed
from assistant.api.request_context import caller_of
from assistant.recorder import Recorder
from memory_store import ending, header, to_line

router = APIRouter(prefix="/v1", tags=["service"])


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


@router.post("/scrub", summary="Scrub the disk", responses=failures(403, 503))
async def scrub(request: Request, store: Store) -> Scrubbed:
    """Take everything that was forgotten or put right off the disk of an embedded memory: its files
    are written anew. Others go on meanwhile, and wait at the end for about a quarter of a second
    for each ten thousand rounds. A Qdrant server clears its files by itself: `scrubbed` is false
    then."""
    caller_of(request).checked_scope(Scope.ADMIN)
    return Scrubbed(object="scrub", scrubbed=await store.scrub())
