"""Routes of memories: search, correct, forget one, forget everything of a user."""

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from assistant.api import request_context as context
from assistant.api.description import READING, WRITING, failures, shown
from assistant.api.parameters import DryRun, MemoryId, UserId, UserInPath, where_of
from assistant.api.replies import long_response
from assistant.api.replies.memories import KeptFact, Memory
from assistant.api.replies.removal import ForgottenMemory, ForgottenUser
from assistant.api.replies.search import Hit, SearchResult, SessionHit
from assistant.api.requests.memories import CorrectedMemory, SearchRequest, StatedFact
from assistant.api.route import JsonRoute, Parts
from assistant.chat.recorder import Recorder
from assistant.chat.retriever import Read, known_until
from assistant.dates import optional_day
from assistant.errors import InvalidRequest, NotFound
from memory_store import (
    Correction,
    Days,
    GivenFact,
    Query,
    Record,
    Speaker,
    only_asks,
    whose,
)
from memory_store.scheduler import in_slices

router = APIRouter(prefix="/v1", tags=["memories"], route_class=JsonRoute)
_CORRECTED = {
    **Memory.example,
    "user_text": "I moved to Bruges on Friday.",
    "facts": [{**KeptFact.example, "text": "I moved to Bruges on Friday."}],
    "corrected_at": "2023-06-10T09:00:00Z",
}
_UNDONE = {**Memory.example, "facts": [{**KeptFact.example, "supersedes": []}]}


@router.post(
    "/memories/search",
    summary="Search memory",
    response_model=SearchResult,
    responses=failures(*READING, 413),
)
async def search(request: Request, parts: Parts, body: SearchRequest) -> Response:
    """Ranked values for a query. Nothing is read by a model and nothing is stored."""
    user_id = await context.user_of(request, body.user_id, space=body.space)
    context.limits_of(request).check_query(body.query)
    zone = context.zone_of(request, body.timezone)
    now = context.time_of(request, body.now, zone=zone, param="now")
    given = {"from": body.from_, "to": body.to, "as_of": body.as_of}
    days = context.days_of(given, now.zone)
    days = known_until(days, now.at, timed=now.given)
    query = Query(
        user_id,
        body.query,
        body.top_k,
        days,
        asked_on=now.at.date(),
        week_begins=context.week_begins(request, body.week_begins),
        explained=True,
        where=where_of(body.where),
    )
    retrieved = await parts.retriever.retrieve(query, Read(body.understanding))
    recall = retrieved.recall
    for stage in ("embed", "search"):
        parts.metrics.stage(stage, recall.timings[f"{stage}_ms"] / 1000)
    result = SearchResult.of(
        recall,
        object="list",
        query=body.query,
        now=now.at,
        understanding=retrieved.understanding,
        time_fell_back=recall.fell_back,
        unit=body.unit,
        timings={name: round(ms, 3) for name, ms in recall.timings.items()},
        data=[],
    )
    floor = parts.settings.quote_floor
    if body.unit == "session":
        return await long_response(
            result, map(partial(SessionHit.of_session, floor), recall.sessions)
        )
    found = recall.rounds[: body.top_k]
    if not body.questions:
        found = tuple([one async for one in in_slices(found) if not only_asks(one.record)])
    return await long_response(result, map(partial(Hit.from_floor, floor), found))


@router.patch(
    "/memories/{memory_id}",
    summary="Correct a memory",
    response_model=Memory,
    responses=failures(*WRITING, 404, 413) | shown(_CORRECTED),
)
async def correct_memory(
    request: Request,
    parts: Parts,
    memory_id: MemoryId,
    body: CorrectedMemory,
    user_id: UserId = None,
) -> Response:
    """Put right what a round says, or who said it. Its old text is nowhere found again; doing it
    twice is once."""
    owner = await context.user_of(request, body.user_id, user_id, space=body.space)
    given = [body.user_text, body.assistant_text]
    context.limits_of(request).check_messages([text for text in given if text is not None])
    stated = [fact if isinstance(fact, str) else fact.text for fact in body.facts or ()]
    context.limits_of(request).check_messages(stated, param="facts")
    correction = Correction(
        context.time_of(request, body.timestamp).at,
        body.user_text,
        body.assistant_text,
        None if body.facts is None else tuple(map(_given_fact, body.facts)),
        {text: Speaker(said_by) for text, said_by in (body.speakers or {}).items()},
    )
    if correction == Correction(correction.at):
        raise InvalidRequest(
            "nothing to correct: give user_text, assistant_text, facts or speakers"
        )
    record = await parts.recorder.correct(owner, memory_id, correction)
    if record is None:
        raise unknown(memory_id)
    return await _memory(record)


def _given_fact(given: str | StatedFact) -> GivenFact:
    if isinstance(given, str):
        return GivenFact(given)
    if given.event_dates is None:
        return GivenFact(given.text)
    days = (
        Days(optional_day(d.first, param="facts"), optional_day(d.last, param="facts"))
        for d in given.event_dates
    )
    return GivenFact(given.text, tuple(days))


@router.delete(
    "/memories/{memory_id}",
    summary="Forget a memory",
    responses=failures(*WRITING, 404),
)
async def forget_memory(
    request: Request,
    parts: Parts,
    memory_id: MemoryId,
    user_id: UserId = None,
    dry_run: DryRun = False,
) -> ForgottenMemory:
    """Forget one round; with `dry_run` only count what would go."""
    owner = await context.user_of(request, user_id)
    gone = await parts.recorder.forget(owner, round_id=memory_id, dry_run=dry_run)
    if not gone:
        raise unknown(memory_id)
    return ForgottenMemory.of(
        gone, object="memory.deleted", id=memory_id, deleted=not dry_run, dry_run=dry_run
    )


@router.put(
    "/memories/{memory_id}/pin",
    summary="Pin a memory",
    response_model=Memory,
    responses=failures(*WRITING, 404) | shown({**Memory.example, "pinned": True}),
)
async def pin_memory(
    request: Request, parts: Parts, memory_id: MemoryId, user_id: UserId = None
) -> Response:
    """What a round states and still holds stands in every prompt from now on, and first in what is
    known of the user."""
    return await _pin(request, parts.recorder, memory_id, user_id, pinned=True)


@router.delete(
    "/memories/{memory_id}/pin",
    summary="Unpin a memory",
    response_model=Memory,
    responses=failures(*WRITING, 404),
)
async def unpin_memory(
    request: Request, parts: Parts, memory_id: MemoryId, user_id: UserId = None
) -> Response:
    """The round is found again where it is near to a question, as all others."""
    return await _pin(request, parts.recorder, memory_id, user_id, pinned=False)


async def _pin(
    request: Request, recorder: Recorder, memory_id: str, user_id: str | None, *, pinned: bool
) -> Response:
    owner = await context.user_of(request, user_id)
    record = await recorder.pin(owner, memory_id, pinned)
    if record is None:
        raise unknown(memory_id)
    return await _memory(record)


@router.delete(
    "/memories/{memory_id}/updates",
    summary="Undo updates",
    response_model=Memory,
    responses=failures(*WRITING, 404) | shown(_UNDONE),
)
async def undo_updates(
    request: Request, parts: Parts, memory_id: MemoryId, user_id: UserId = None
) -> Response:
    """What a round replaced holds again; the round itself stays."""
    return await _let_supersede(request, parts.recorder, memory_id, user_id, allowed=False)


@router.put(
    "/memories/{memory_id}/updates",
    summary="Redo updates",
    response_model=Memory,
    responses=failures(*WRITING, 404),
)
async def redo_updates(
    request: Request, parts: Parts, memory_id: MemoryId, user_id: UserId = None
) -> Response:
    """Let a round replace again what its statements replace by the rules."""
    return await _let_supersede(request, parts.recorder, memory_id, user_id, allowed=True)


async def _let_supersede(
    request: Request, recorder: Recorder, memory_id: str, user_id: str | None, *, allowed: bool
) -> Response:
    owner = await context.user_of(request, user_id)
    record = await recorder.let_supersede(owner, memory_id, allowed)
    if record is None:
        raise unknown(memory_id)
    return await _memory(record)


@router.delete(
    "/users/{user_id:path}/memories",
    summary="Forget everything of a user",
    responses=failures(*WRITING, 404),
)
async def forget_user(
    request: Request, parts: Parts, user_id: UserInPath, dry_run: DryRun = False
) -> ForgottenUser:
    """Forget everything of a user, spaces included, or of the space that is named; with `dry_run`
    only count it."""
    owner = await context.user_in_path(request, user_id)
    gone = await parts.recorder.forget_memory(owner, dry_run=dry_run)
    return ForgottenUser.of(
        gone,
        object="user.memories.deleted",
        **whose(owner)._asdict(),
        deleted=0 if dry_run else gone.rounds,
        dry_run=dry_run,
    )


async def _memory(record: Record) -> Response:
    head = Memory.of(record, facts=[])
    return await long_response(head, map(KeptFact.of, record.facts))


def unknown(memory_id: str) -> NotFound:
    """What is said where a user has no such memory."""
    return NotFound(
        f"this user has no memory {memory_id[:80]!r}", code="memory_not_found", param="id"
    )
