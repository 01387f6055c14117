"""The route of chat: OpenAI's request in, OpenAI's reply out, streamed or whole."""

import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, date, datetime
from datetime import time as clock_time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from assistant.api import front_ends
from assistant.api.description import streamed
from assistant.api.failures import ANSWERING, failures
from assistant.api.keeping import expiry_of, labels_of, where_of
from assistant.api.metadata import check_keys
from assistant.api.profiles import WITHOUT_MEMORY, checked_profile
from assistant.api.replies.chat import STREAMED, ChatCompletion, ChatReply
from assistant.api.request_context import (
    Instant,
    caller_of,
    days_of,
    derived_session,
    limits_of,
    mode_of,
    retried,
    services,
    session_of,
    time_of,
    turn_id_of,
    user_of,
)
from assistant.api.requests.chat import ChatMessage, ChatRequest
from assistant.api.route import JsonRoute
from assistant.api.stream import Pieces, ReplyStream, answer_whole, started
from assistant.characters import is_blank
from assistant.chat import ChatCall, MemoryMode
from assistant.dates import parse_day
from assistant.errors import InvalidRequest
from assistant.models.chat_model import Message
from memory_store import whose

router = APIRouter(prefix="/v1/chat", tags=["chat"], route_class=JsonRoute)
_TRUE = ("1", "true", "yes", "on")


@router.post(
    "/completions",
    summary="Chat with memory",
    response_model=ChatCompletion,
    responses=failures(*ANSWERING, 413) | streamed(STREAMED),
)
async def chat_completions(request: Request, body: ChatRequest) -> Response:
    """Answer the last user message; in mode `on` the new round is durable when the reply ends."""
    call = await chat_call(request, body)
    reply = ChatReply(
        id=f"chatcmpl-{uuid.uuid4().hex}",
        created=int(time.time()),
        model=checked_profile(body.model),
        call=call,
        debug=call.debug,
        with_usage=bool(body.stream_options and body.stream_options.include_usage),
    )
    pieces = answered(request, call)
    headers = session_header(call)
    if body.stream:
        # Waits a little, so that most failures still get a status of their own.
        return ReplyStream(await started(pieces), pieces, reply, headers)
    return await answer_whole(request, pieces, reply, headers)


def answered(request: Request, call: ChatCall) -> Pieces:
    """The answer to a call, within the limits of its user."""
    return _counted(request, whose(call.user_id).user_id, services(request).chat.answer(call))


async def _counted(request: Request, user_id: str, pieces: Pieces) -> Pieces:
    """An answer, which counts as under way from its first piece to its end."""
    with limits_of(request).answering(caller_of(request), user_id):
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece


async def chat_call(request: Request, body: ChatRequest, said_in: str = "messages") -> ChatCall:
    """Resolve who, where, when and how of a chat request (docs/api.md).

    `said_in` is the field that the caller sent the messages in.
    """
    metadata = body.metadata or {}
    check_keys(metadata)
    limits_of(request).check_messages([message.readable for message in body.messages])
    last = _last_message(request, body, said_in)
    users = (metadata.get("user_id"), body.user, body.safety_identifier)
    user_id = await user_of(request, *users, space=metadata.get("space"))
    as_of = _as_of(metadata)
    asked = _asked(request, as_of, last.timestamp, metadata.get("timestamp"))
    conversation = _conversation(body.messages[:-1])
    said = [m.content for m in conversation if m.role == "user"]
    system = "\n".join(m.content for m in conversation if m.role == "system")
    is_task = front_ends.is_task(request.headers, last.text)
    return ChatCall(
        user_id=user_id,
        session_id=session_of(request, metadata.get("session_id"))
        or derived_session(user_id, system, [*said, last.text][0]),
        text=last.text,
        asked_at=asked.at,
        timed=asked.given,
        mode=_mode(body, mode_of(request, metadata, is_task=is_task), as_of),
        conversation=conversation,
        name=last.name,
        turn_id=turn_id_of(request),
        retried=retried(request),
        days=days_of(metadata),
        debug=_is_set(metadata, "memory_debug"),
        is_task=is_task,
        is_question=_is_set(metadata, "question"),
        options=body.options(),
        where=where_of(metadata.get("where")),
        labels=labels_of(metadata.get("labels")),
        expires_at=expiry_of(metadata, asked.at),
    )


def _is_set(metadata: Mapping[str, Any], name: str) -> bool:
    return str(metadata.get(name, "")).lower() in _TRUE


def _as_of(metadata: Mapping[str, Any]) -> date | None:
    given = metadata.get("as_of")
    return None if given is None else parse_day(given, param="metadata.as_of")


def _asked(request: Request, as_of: date | None, *given: Any) -> Instant:
    """When a question is asked: as of an earlier day, at its end."""
    asked = time_of(request, *given)
    if as_of is None or asked.given:
        return asked
    return Instant(min(asked.at, datetime.combine(as_of, clock_time.max, UTC)), given=False)


def _mode(body: ChatRequest, given: MemoryMode, as_of: date | None) -> MemoryMode:
    """What is asked as of a day is not said on it, so it is not stored."""
    if checked_profile(body.model) == WITHOUT_MEMORY:
        return MemoryMode.OFF
    return MemoryMode.READ_ONLY if as_of and given is MemoryMode.ON else given


def _last_message(request: Request, body: ChatRequest, said_in: str) -> ChatMessage:
    if not body.messages:
        raise InvalidRequest(
            f"{said_in} is empty: send at least one user message",
            code="empty_messages",
            param=said_in,
        )
    last = body.messages[-1]
    # Older front ends say in a system message alone what they want for themselves.
    is_task = last.role == "system" and front_ends.is_task(request.headers, last.text)
    if last.role != "user" and not is_task:
        raise InvalidRequest(
            f"the last message must be the user's, got role {last.role[:40]!r}",
            param=said_in,
        )
    if is_blank(last.text):
        raise InvalidRequest("the last user message is empty", code="empty_messages", param=said_in)
    return last


def _conversation(messages: Sequence[ChatMessage]) -> list[Message]:
    """The earlier messages as a language model may read them.

    Calls of tools are not passed on, so neither are their results; of pictures and files nothing is
    known, and a chat that once had one goes on; blank messages say nothing.
    """
    names = {"developer": "system"}  # the newer name, which many servers do not know
    return [
        Message(names.get(message.role, message.role), message.readable)
        for message in messages
        if message.role not in ("tool", "function") and message.readable.strip()
    ]


def session_header(call: ChatCall) -> dict[str, str]:
    """The header that names the session. It holds latin-1 only; other characters are escaped."""
    return {"X-Memory-Session": call.session_id.encode("ascii", "backslashreplace").decode()}
