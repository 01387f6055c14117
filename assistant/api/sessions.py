"""Routes of sessions: open, record, list, read, name, forget (docs/api.md)."""

import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from assistant.api import request_context as context
from assistant.api.description import READING, WRITING, failures, shown
from assistant.api.parameters import (
    DryRun,
    LabelledAs,
    SessionId,
    UserId,
    expiry_of,
    labels_of,
    where_of,
)
from assistant.api.receipts import receipts_for
from assistant.api.replies import long_response
from assistant.api.replies import sessions as replies
from assistant.api.replies.memories import Memory
from assistant.api.replies.removal import ForgottenSession
from assistant.api.requests.chat import content_text
from assistant.api.requests.memories import (
    NamedSession,
    NewSession,
    RecordedMessage,
    RecordedMessages,
)
from assistant.api.route import JsonRoute, Parts
from assistant.chat.members import MemberRole
from assistant.chat.turns import Role, Turn
from assistant.errors import InvalidRequest, NotFound
from assistant.services import Services
from memory_store import Reach, summarise_session, whose
from memory_store.scheduler import aside, in_slices

router = APIRouter(prefix="/v1", tags=["sessions"], route_class=JsonRoute)
_APART = timedelta(seconds=1)


@router.post(
    "/sessions",
    summary="Open a session",
    responses=failures(400, 413, 429),
)
async def open_session(request: Request, body: NewSession) -> replies.OpenedSession:
    """Name a session; it exists in memory from its first recorded turn on."""
    user_id = await context.user_of(request, body.user_id, space=body.space, role=MemberRole.MEMBER)
    session_id = context.session_of(request, body.session_id) or f"session-{uuid.uuid4().hex}"
    started = context.time_of(request, body.started_at, param="started_at")
    return replies.OpenedSession(
        object="session", id=session_id, **whose(user_id)._asdict(), started_at=started.at
    )


@router.post(
    "/sessions/{session_id:path}/messages",
    summary="Record turns that already happened",
    response_model=replies.RecordedTurns,
    responses=failures(*WRITING, 413),
)
async def record_messages(
    request: Request, parts: Parts, session_id: SessionId, body: RecordedMessages
) -> Response:
    """Record turns that already happened, in order; durable when this returns."""
    user_id = await context.user_of(request, body.user_id, space=body.space, role=MemberRole.MEMBER)
    session_id = context.checked_id(session_id, "session_id")
    turns = await _turns(request, body)
    receipts = await receipts_for(request)
    recorded = await parts.recorder.record(
        user_id, session_id, turns, person=context.speaker_in(request)
    )
    waits = body.close if body.wait is None else body.wait
    reply = replies.RecordedTurns.of(
        recorded,
        object="session.messages",
        session_id=session_id,
        **whose(user_id)._asdict(),
        enrichment=await _enrichment(parts, user_id, session_id, waits, body.close),
        receipt=await receipts.kept(user_id, recorded.rounds, session_id=session_id),
        rounds=[],
    )
    return await long_response(reply, map(replies.TouchedRound.of, recorded.rounds))


async def _enrichment(
    parts: Services, user_id: str, session_id: str, waits: bool, closes: bool
) -> replies.EnrichmentCounts | None:
    """How far the background work on the session is, once it was waited for."""
    if parts.enrichment is None:
        return None
    if not waits:
        if closes:
            parts.enrichment.closed(user_id, session_id)
        return None
    await parts.enrichment.finish(user_id, session_id)
    records = await parts.store.session(user_id, session_id)
    return replies.EnrichmentCounts.of_session(summarise_session(records)) if records else None


async def _turns(request: Request, body: RecordedMessages) -> list[Turn]:
    texts = [content_text(message.content) for message in body.messages]
    context.limits_of(request).check_messages(texts)
    is_retried = context.retried(request)
    labels = labels_of(body.labels)
    expiry = {"expires_at": body.expires_at, "expires_in": body.expires_in}
    every = enumerate(zip(body.messages, texts, _times(request, body), strict=True))
    return [
        Turn(
            Role(message.role),
            text,
            said.at,
            timed=said.given,
            name=message.name,
            caller_id=_turn_id(request, message, position),
            retried=is_retried,
            labels=labels,
            expires_at=expiry_of(expiry, said.at, said.zone),
            reach=Reach(body.reach),
        )
        async for position, (message, text, said) in in_slices(every)
    ]


def _turn_id(request: Request, message: RecordedMessage, position: int) -> str | None:
    if message.id is not None:
        return context.checked_id(message.id, "messages.id")
    return context.turn_id_of(request, position)


def _times(request: Request, body: RecordedMessages) -> Iterator[context.Instant]:
    """When each turn was said. Turns without a time of their own follow the common time, a second
    apart; where the caller gave no common time, they follow the last turn that has a time."""
    zone = context.zone_of(request, body.timezone)
    common, last = context.time_of(request, body.timestamp, zone=zone), None
    for position, message in enumerate(body.messages):
        if message.timestamp is not None:
            last = context.time_of(request, message.timestamp, zone=zone)
        elif last is None or common.given:
            last = replace(common, at=common.at + position * _APART)
        else:
            last = replace(last, at=last.at + _APART)
        yield last


@router.get(
    "/sessions",
    summary="List the sessions",
    response_model=replies.SessionList,
    responses=failures(*READING),
)
async def list_sessions(
    request: Request, parts: Parts, user_id: UserId = None, where: LabelledAs = None
) -> Response:
    """Every session of a user, oldest first; with `where` of the rounds labelled like this."""
    owner = await context.user_of(request, user_id)
    zone = context.zone_of(request)
    summaries = await context.memory_of(request).sessions(owner, where_of(where), zone)
    listed = replies.SessionList(object="list", data=[])
    return await long_response(listed, map(partial(replies.Session.of_user, owner), summaries))


@router.get(
    "/sessions/{session_id:path}",
    summary="Read a session",
    response_model=replies.SessionWithRounds,
    responses=failures(*READING, 404),
)
async def read_session(
    request: Request, parts: Parts, session_id: SessionId, user_id: UserId = None
) -> Response:
    """One session with its rounds in order."""
    owner = await context.user_of(request, user_id)
    records = await context.memory_of(request).session(owner, session_id)
    if not records:
        raise _unknown(session_id)
    summary = await aside(len(records), summarise_session, records, context.zone_of(request))
    return await long_response(
        replies.SessionWithRounds.of_user(owner, summary, data=[]), map(Memory.of, records)
    )


@router.patch(
    "/sessions/{session_id:path}",
    summary="Name a session",
    responses=failures(*WRITING, 404, 413)
    | shown({**replies.Session.example, **NamedSession.example}),
)
async def name_session(
    request: Request,
    parts: Parts,
    session_id: SessionId,
    body: NamedSession,
    user_id: UserId = None,
) -> replies.Session:
    """Give a session a title, an empty one takes it away; or label all its rounds anew."""
    owner = await context.user_of(
        request, body.user_id, user_id, space=body.space, role=MemberRole.MEMBER
    )
    await context.check_said(request, session_id=session_id)
    labels = labels_of(body.labels)
    if body.title is None and labels is None:
        raise InvalidRequest("nothing to change: give a title or labels", param="title")
    records = await parts.recorder.name_session(owner, session_id, body.title, labels)
    if not records:
        raise _unknown(session_id)
    summary = await aside(len(records), summarise_session, records, context.zone_of(request))
    return replies.Session.of_user(owner, summary)


@router.delete(
    "/sessions/{session_id:path}",
    summary="Forget a session",
    responses=failures(*WRITING, 404),
)
async def forget_session(
    request: Request,
    parts: Parts,
    session_id: SessionId,
    user_id: UserId = None,
    dry_run: DryRun = False,
) -> ForgottenSession:
    """Forget a session; with `dry_run` only count what would go."""
    owner = await context.user_of(request, user_id, role=MemberRole.MEMBER)
    await context.check_said(request, session_id=session_id)
    receipts = await receipts_for(request, dry_run=dry_run)
    gone = await parts.recorder.forget(owner, session_id=session_id, dry_run=dry_run)
    if not gone:
        raise _unknown(session_id)
    return ForgottenSession.of(
        gone,
        object="session.deleted",
        id=session_id,
        deleted=not dry_run,
        dry_run=dry_run,
        receipt=await receipts.removed(owner, gone, session_id=session_id),
    )


def _unknown(session_id: str) -> NotFound:
    return NotFound(
        f"this user has no session {session_id[:80]!r}",
        code="session_not_found",
        param="session_id",
    )
