"""Routes of memories: search, correct, forget one, forget everything of a user."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from assistant.api import bodies
from assistant.api.call import days_of, limits_of, services, time_of, user_in_path, user_of
from assistant.api.description import described
from assistant.api.examples import memories as examples
from assistant.api.failures import READING, WRITING
from assistant.api.long_reply import list_reply
from assistant.api.parameters import DryRun, MemoryId, UserId, UserInPath
from assistant.api.requests.memories import CorrectedMemory, SearchRequest, StatedFact
from assistant.api.route import JsonRoute
from assistant.api.schemas.memories import (
    ForgottenMemory,
    ForgottenUser,
    Memory,
    SearchResult,
)
from assistant.dates import optional_day, print_instant
from assistant.errors import InvalidRequest, NotFound
from assistant.observing.gen_ai import Operation, memory_operation
from memory_store import Correction, Days, GivenFact, MemoryStore, Query, Recall, Record, Speaker

router = APIRouter(prefix="/v1", tags=["memories"], route_class=JsonRoute)


@router.post(
    "/memories/search",
    **described(
        "Search memory",
        SearchResult,
        examples.FOUND,
        body=examples.SEARCH,
        may_fail=READING,
    ),
)
async def search(request: Request, body: SearchRequest) -> Response:
    """Ranked values for a query. Nothing is read by a model and nothing is stored."""
    user_id = await user_of(request, body.user_id)
    limits_of(request).check_query(body.query)
    now = time_of(request, body.now, param="now").at
    days = days_of({"from": body.from_, "to": body.to, "as_of": body.as_of})
    query = Query(user_id, body.query, body.top_k, days, asked_on=now.date(), explained=True)
    recall = await _recalled(services(request).store, query)
    for stage in ("embed", "search"):
        services(request).metrics.stage(stage, recall.timings[f"{stage}_ms"] / 1000)
    if body.unit == "session":
        data = map(bodies.recalled_session_body, recall.sessions)
    else:
        data = map(bodies.recalled_body, recall.rounds)
    return await list_reply(
        data,
        object="list",
        query=body.query,
        now=print_instant(now),
        time_range=bodies.time_range_body(recall.time_range),
        unit=body.unit,
        timings={name: round(ms, 3) for name, ms in recall.timings.items()},
    )


@memory_operation(Operation.SEARCH, lambda recall: len(recall.rounds))
async def _recalled(store: MemoryStore, query: Query) -> Recall:
    return await store.recall(query)


@router.patch(
    "/memories/{memory_id}",
    **described(
        "Correct a memory",
        Memory,
        examples.CORRECTED,
        body=examples.CORRECTION,
        may_fail=(*WRITING, 404),
    ),
)
async def correct_memory(
    request: Request, memory_id: MemoryId, body: CorrectedMemory, user_id: UserId = None
) -> Response:
    """Put right what a round says, or who said it. Its old text is nowhere found again; doing it
    twice is once."""
    owner = await user_of(request, body.user_id, user_id)
    given = [body.user_text, body.assistant_text]
    limits_of(request).check_messages([text for text in given if text is not None])
    stated = [fact if isinstance(fact, str) else fact.text for fact in body.facts or ()]
    limits_of(request).check_messages(stated, param="facts")
    correction = Correction(
        time_of(request, body.timestamp).at,
        body.user_text,
        body.assistant_text,
        None if body.facts is None else tuple(map(_given_fact, body.facts)),
        {text: Speaker(said_by) for text, said_by in (body.speakers or {}).items()},
    )
    if correction == Correction(correction.at):
        raise InvalidRequest("say what to correct: user_text, assistant_text, facts or speakers")
    record = await services(request).recorder.correct(owner, memory_id, correction)
    if record is None:
        raise _unknown(memory_id)
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
    **described("Forget a memory", ForgottenMemory, examples.FORGOTTEN, may_fail=(*WRITING, 404)),
)
async def forget_memory(
    request: Request, memory_id: MemoryId, user_id: UserId = None, dry_run: DryRun = False
) -> Mapping[str, Any]:
    """Forget one round; with `dry_run` only count what would go."""
    owner = await user_of(request, user_id)
    gone = await services(request).recorder.forget_round(owner, memory_id, dry_run=dry_run)
    if not gone:
        raise _unknown(memory_id)
    named = {"id": memory_id, "deleted": not dry_run}
    return bodies.forgotten_body("memory", gone, dry_run=dry_run, **named)


@router.delete(
    "/memories/{memory_id}/updates",
    **described("Undo updates", Memory, examples.UNDONE, may_fail=(*WRITING, 404)),
)
async def undo_updates(request: Request, memory_id: MemoryId, user_id: UserId = None) -> Response:
    """What a round replaced holds again; the round itself stays."""
    return await _let_supersede(request, memory_id, user_id, allowed=False)


@router.put(
    "/memories/{memory_id}/updates",
    **described("Redo updates", Memory, examples.BRUGES, may_fail=(*WRITING, 404)),
)
async def redo_updates(request: Request, memory_id: MemoryId, user_id: UserId = None) -> Response:
    """Let a round replace again what its statements replace by the rules."""
    return await _let_supersede(request, memory_id, user_id, allowed=True)


async def _let_supersede(
    request: Request, memory_id: str, user_id: str | None, *, allowed: bool
) -> Response:
    owner = await user_of(request, user_id)
    record = await services(request).recorder.let_supersede(owner, memory_id, allowed)
    if record is None:
        raise _unknown(memory_id)
    return await _memory(record)


@router.delete(
    "/users/{user_id:path}/memories",
    **described(
        "Forget everything of a user",
        ForgottenUser,
        examples.FORGOTTEN_USER,
        may_fail=(*WRITING, 404),
    ),
)
async def forget_user(
    request: Request, user_id: UserInPath, dry_run: DryRun = False
) -> Mapping[str, Any]:
    """Forget everything of a user; with `dry_run` only count it."""
    owner = await user_in_path(request, user_id)
    gone = await services(request).recorder.forget_user(owner, dry_run=dry_run)
    named = {"user_id": owner, "deleted": 0 if dry_run else gone.rounds}
    return bodies.forgotten_body("user.memories", gone, dry_run=dry_run, **named)


async def _memory(record: Record) -> Response:
    return await list_reply(
        map(bodies.fact_body, record.facts), name="facts", **bodies.head_body(record)
    )


def _unknown(memory_id: str) -> NotFound:
    return NotFound(
        f"this user has no memory {memory_id[:80]!r}", code="memory_not_found", param="id"
    )
