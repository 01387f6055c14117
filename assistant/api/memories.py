"""Routes of memories: search, correct, forget one, forget everything of a user."""

from datetime import datetime
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from assistant.api import request_context as context
from assistant.api.description import READING, WRITING, failures, shown
from assistant.api.parameters import DryRun, MemoryId, UserId, UserInPath, where_of
from assistant.api.receipts import receipts_for
from assistant.api.replies import long_response
from assistant.api.replies.memories import CorrectedValue, KeptFact, Memory, ReachSet
from assistant.api.replies.receipts import GivenReceipt
from assistant.api.replies.removal import ForgottenMemory, ForgottenUser
from assistant.api.replies.search import Hit, SearchResult, SessionHit
from assistant.api.requests.memories import (
    CorrectedMemory,
    GivenCondition,
    ReachRequest,
    SearchRequest,
    StatedFact,
)
from assistant.api.route import JsonRoute, Parts
from assistant.chat.members import MemberRole
from assistant.chat.recorder import Recorder
from assistant.chat.retriever import Read, known_until
from assistant.dates import optional_day
from assistant.errors import InvalidRequest, NotFound
from memory_store import (
    Condition,
    Correction,
    Days,
    GivenFact,
    Listing,
    Query,
    Reach,
    Record,
    Speaker,
    only_asks,
    whose,
)
from memory_store.language import bound_to
from memory_store.scheduler import in_slices

router = APIRouter(prefix="/v1", tags=["memories"], route_class=JsonRoute)
_CORRECTED = {
    **Memory.example,
    "user_text": "I moved to Bruges on Friday.",
    "facts": [{**KeptFact.example, "text": "I moved to Bruges on Friday."}],
    "corrected_at": "2023-06-10T09:00:00Z",
}
# More rounds than any user has.
_ALL = 1 << 31
_UNDONE = {**Memory.example, "facts": [{**KeptFact.example, "supersedes": []}]}


@router.post(
    "/memories/search",
    summary="Search memory",
    response_model=SearchResult,
    responses=failures(*READING, 413),
)
async def search(request: Request, parts: Parts, body: SearchRequest) -> Response:
    """Ranked values for a query. Nothing is read by a model and nothing is stored."""
    user_id = await context.user_of(request, body.user_id, space=body.space, role=MemberRole.READER)
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
    retriever = parts.retriever.seen_up_to(context.reach_of_reader(request))
    retrieved = await retriever.retrieve(query, Read(body.understanding))
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


@router.post(
    "/memories/reach",
    summary="Say where memories may go",
    responses=failures(*WRITING, 413),
)
async def set_reach(request: Request, parts: Parts, body: ReachRequest) -> ReachSet:
    """Where what matches may go from now on, and no farther. Other rounds whose answers repeat it
    go no farther, either. With `dry_run` it is only counted."""
    owner = await context.user_of(request, body.user_id, space=body.space)
    context.limits_of(request).check_query(body.text)
    days = context.days_of({"from": body.from_, "to": body.to}, context.zone_of(request))
    session_id = body.session_id and context.checked_id(body.session_id, "session_id")
    ids = None if body.ids is None else tuple(body.ids)
    where, text, reach = where_of(body.where), body.text.strip(), Reach(body.reach)
    if ids is None and not (session_id or where or text or days != Days()):
        raise InvalidRequest("say which memories: give ids, session_id, where, text, from or to")
    listing = Listing(owner, days, session_id, text=text, ids=ids, where=where, limit=_ALL)
    matched = (await parts.store.listed(listing)).records
    changed = [one for one in matched if one.round.reach is not reach]
    if not body.dry_run:
        changed = await parts.recorder.set_reach(owner, [one.id for one in matched], reach)
    return ReachSet(
        object="memories.reach",
        reach=reach,
        dry_run=body.dry_run,
        matched=len(matched),
        changed=len(changed),
    )


@router.patch(
    "/memories/{memory_id}",
    summary="Correct a memory",
    response_model=CorrectedValue,
    responses=failures(*WRITING, 404, 413) | shown(_CORRECTED),
)
async def correct_memory(
    request: Request,
    parts: Parts,
    memory_id: MemoryId,
    body: CorrectedMemory,
    user_id: UserId = None,
) -> Response:
    """Put right what a round says, who said it, or up to when it holds. Its old text is nowhere
    found again; doing it twice is once."""
    owner = await context.user_of(
        request, body.user_id, user_id, space=body.space, role=MemberRole.MEMBER
    )
    await context.check_said(request, memory_id=memory_id, by_owners=False)
    given = [body.user_text, body.assistant_text]
    context.limits_of(request).check_messages([text for text in given if text is not None])
    stated = [fact if isinstance(fact, str) else fact.text for fact in body.facts or ()]
    context.limits_of(request).check_messages(stated, param="facts")
    correction = _correction(body, context.time_of(request, body.timestamp).at)
    if correction == Correction(correction.at):
        raise InvalidRequest(
            "nothing to correct: give user_text, assistant_text, facts, speakers, conditions, "
            "ask_on or confirmed"
        )
    receipts = await receipts_for(request)
    record = await parts.recorder.correct(owner, memory_id, correction)
    if record is None:
        raise unknown(memory_id)
    kept = await receipts.kept(owner, [record.round], memory_id=memory_id)
    return await _memory(record, receipt=kept)


def _correction(body: CorrectedMemory, at: datetime) -> Correction:
    conditions = (body.conditions or {}).items()
    return Correction(
        at,
        body.user_text,
        body.assistant_text,
        None if body.facts is None else tuple(map(_given_fact, body.facts)),
        {text: Speaker(said_by) for text, said_by in (body.speakers or {}).items()},
        {text: None if given is None else _condition(given) for text, given in conditions},
        {text: optional_day(day, param="ask_on") for text, day in (body.ask_on or {}).items()},
        tuple(body.confirmed or ()),
    )


def _condition(given: GivenCondition) -> Condition:
    until = optional_day(given.until, param="conditions")
    if (until is None) == (given.while_ is None):
        raise InvalidRequest("a condition needs either until or while", param="conditions")
    if until is not None:
        return Condition.until_day(until)
    state = given.while_ or ""
    if found := bound_to(state):
        return found
    raise InvalidRequest(
        f'no rule knows what would end {state[:80]!r}: give a statement like "I live in Ghent", '
        "or a day",
        code="unknown_state",
        param="conditions",
    )


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
    owner = await context.user_of(request, user_id, role=MemberRole.MEMBER)
    await context.check_said(request, memory_id=memory_id)
    receipts = await receipts_for(request, dry_run=dry_run)
    gone = await parts.recorder.forget(owner, round_id=memory_id, dry_run=dry_run)
    if not gone:
        raise unknown(memory_id)
    return ForgottenMemory.of(
        gone,
        object="memory.deleted",
        id=memory_id,
        deleted=not dry_run,
        dry_run=dry_run,
        receipt=await receipts.removed(owner, gone, memory_id=memory_id),
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
    owner = await context.user_of(request, user_id, role=MemberRole.MEMBER)
    await context.check_said(request, memory_id=memory_id)
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
    owner = await context.user_of(request, user_id, role=MemberRole.MEMBER)
    await context.check_said(request, memory_id=memory_id)
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
    receipts = await receipts_for(request, dry_run=dry_run)
    gone = await parts.recorder.forget_memory(owner, dry_run=dry_run)
    if not dry_run and whose(owner).space is None:
        await parts.surroundings.forget(owner)
    return ForgottenUser.of(
        gone,
        object="user.memories.deleted",
        **whose(owner)._asdict(),
        deleted=0 if dry_run else gone.rounds,
        dry_run=dry_run,
        receipt=await receipts.removed(owner, gone),
    )


async def _memory(record: Record, receipt: GivenReceipt | None = None) -> Response:
    head = CorrectedValue.of(record, receipt=receipt, facts=[])
    return await long_response(head, map(KeptFact.of, record.facts))


def unknown(memory_id: str) -> NotFound:
    """The error for a memory that the user does not have."""
    return NotFound(
        f"this user has no memory {memory_id[:80]!r}", code="memory_not_found", param="id"
    )
