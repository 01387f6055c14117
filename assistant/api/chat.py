"""The route of chat: OpenAI's request in, OpenAI's reply out, streamed or whole."""

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import date, datetime
from datetime import time as clock_time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from assistant.api import front_ends
from assistant.api import request_context as context
from assistant.api.description import ANSWERING, failures, streamed
from assistant.api.models import chat_of, checked_profile
from assistant.api.parameters import expiry_of, labels_of, reach_of, where_of
from assistant.api.receipts import receipts_for
from assistant.api.replies.chat import STREAMED, ChatCompletion, ChatReply
from assistant.api.requests.chat import ChatMessage, ChatRequest
from assistant.api.requests.responses import ResponseRequest
from assistant.api.route import JsonRoute
from assistant.api.stream import CallReply, ReplyStream, answer_whole, started
from assistant.characters import is_blank
from assistant.chat.call import ChatCall, MemoryMode
from assistant.chat.chat import Chat, Pieces
from assistant.chat.members import MemberRole
from assistant.dates import optional_day
from assistant.errors import InvalidRequest
from assistant.models.chat_model import Message
from assistant.settings import WITHOUT_MEMORY
from memory_store import in_zone, whose

KEYS = tuple(
    """user_id session_id space timestamp timezone week_begins memory from to as_of question
    where labels expires_at expires_in reach strict memory_debug memory_receipt""".split()
)
_CALLERS_OWN = ("user_ip", "label")
"""Keys that are near to one of `KEYS` by spelling only, and not meant for it."""
# In shorter keys a wrong letter makes another word: "form", "top".
_SHORTEST_MISSPELT = 6
# From this length on, two letters may be wrong.
_LONG = 9
_ID = "id"


_ANYBODYS = ("user_id", "session_id", "timestamp")
"""Keys that front ends send beside the messages for themselves."""


def check_place(sent: Iterable[str]) -> None:
    """Raise `InvalidRequest` for a field of a request that is one of `KEYS` and would do nothing
    there."""
    for key in sent:
        if key in KEYS and key not in _ANYBODYS:
            raise InvalidRequest(
                f"{key} does nothing beside the messages: send it as metadata.{key}",
                code="unknown_metadata_key",
                param=key,
            )


def check_keys(given: Iterable[str]) -> None:
    """Raise `InvalidRequest` for a key that is nearly one of `KEYS`."""
    for key in given:
        if key not in KEYS and (meant := _meant(key)):
            raise InvalidRequest(
                f"metadata has no key {key[:60]!r}: did you mean {meant!r}?",
                code="unknown_metadata_key",
                param="metadata",
            )


def _meant(key: str) -> str | None:
    """The known key that this one seems meant for."""
    letters = _letters(key)
    # More letters than this are too far from all of them.
    if key in _CALLERS_OWN or len(letters) > max(map(len, KEYS)) + 2:
        return None
    near = {known: _wrong_letters(letters, _letters(known)) for known in KEYS}
    nearest = min(near, key=lambda known: near[known])
    return nearest if near[nearest] <= _most_wrong(letters, nearest) else None


def _most_wrong(letters: str, known: str) -> int:
    meant = _letters(known)
    if letters + _ID == meant:
        return len(_ID)
    if len(meant) < _SHORTEST_MISSPELT:
        return 0
    return 1 if len(meant) < _LONG else 2


def _letters(key: str) -> str:
    return "".join(filter(str.isalnum, key.lower()))


def _wrong_letters(given: str, meant: str) -> int:
    """How many letters are missing, too many, wrong or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(given):
        older, before, row = before, row, [i + 1]
        for j, wanted in enumerate(meant):
            fewest = min(before[j + 1] + 1, row[j] + 1, before[j] + (letter != wanted))
            if i and j and letter == meant[j - 1] and given[i - 1] == wanted:
                fewest = min(fewest, older[j - 1] + 1)
            row.append(fewest)
    return row[-1]


router = APIRouter(prefix="/v1/chat", tags=["chat"], route_class=JsonRoute)
_TRUE = ("1", "true", "yes", "on")
_OURS = ("model", "messages", "metadata", "stream", "stream_options")
"""The fields of a request that are for us; all others are for the language model."""
_RULES = ("system", "developer")
_RESULTS = ("tool", "function")


@router.post(
    "/completions",
    summary="Chat with memory",
    response_model=ChatCompletion,
    responses=failures(*ANSWERING, 413) | streamed(STREAMED),
)
async def chat_completions(request: Request, body: ChatRequest) -> Response:
    """Answer the last user message; in mode `on` the new round is durable when the reply ends."""
    sent = await request.json()
    check_place(sent)
    options = {name: value for name, value in sent.items() if name not in _OURS}
    given = body.metadata or {}
    users = (given.get("user_id"), body.user, body.safety_identifier)
    user_id = await context.user_of(
        request, *users, space=given.get("space"), role=MemberRole.READER
    )
    call = await chat_call(request, body, sent["messages"], options, user_id)
    receipts = await receipts_for(request, _is_set(given, "memory_receipt"))
    reply = ChatReply(
        id=f"chatcmpl-{uuid.uuid4().hex}",
        created=int(time.time()),
        model=checked_profile(request, body.model),
        call=call,
        debug=call.debug,
        with_usage=bool(body.stream_options and body.stream_options.include_usage),
        receipt_of=lambda done: receipts.of_chat(call, done),
    )
    return await answered(request, body, reply)


async def answered(
    request: Request, body: ChatRequest | ResponseRequest, reply: CallReply
) -> Response:
    """The reply to a call, streamed or whole."""
    pieces = _counted(request, chat_of(request, body.model), reply.call)
    # A header cannot hold every character, so all but those of ASCII are escaped.
    session_id = reply.call.session_id.encode("ascii", "backslashreplace").decode()
    headers = {"X-Memory-Session": session_id}
    if body.stream:
        # `started` waits a little, so that most failures still get a status of their own.
        return ReplyStream(await started(pieces), pieces, reply, headers)
    return await answer_whole(request, pieces, reply, headers)


async def _counted(request: Request, chat: Chat, call: ChatCall) -> Pieces:
    """An answer, which counts as under way from its first piece to its end."""
    user_id = call.person or whose(call.user_id).user_id
    with context.limits_of(request).answering(context.caller_of(request), user_id):
        async with aclosing(chat.answer(call)) as pieces:
            async for piece in pieces:
                await context.check_still_member(request)
                yield piece


async def chat_call(
    request: Request,
    body: ChatRequest,
    sent: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
    user_id: str,
    *,
    said_in: str = "messages",
) -> ChatCall:
    """The call that a user's chat request asks for: in which session, when and how (docs/api.md).

    `sent` are the messages as they came, and `options` what is for the language model. `said_in` is
    the field that the caller sent the messages in.
    """
    metadata = body.metadata or {}
    check_keys(metadata)
    context.limits_of(request).check_messages([message.readable for message in body.messages])
    place = _question(request, body, said_in)
    asked_in = body.messages[place]
    text = asked_in.said
    zone = context.zone_of(request, metadata.get("timezone"), param="metadata.timezone")
    as_of = optional_day(metadata.get("as_of"), param="metadata.as_of", zone=zone)
    given = (asked_in.timestamp, metadata.get("timestamp"))
    asked = _asked(context.time_of(request, *given, zone=zone), as_of)
    messages = [_message(*both) for both in zip(body.messages, sent, strict=True)]
    conversation = messages[:place]
    users = [m.content for m in conversation if m.role == "user"]
    system = "\n".join(m.content for m in conversation if m.role in _RULES)
    is_task = front_ends.is_task(request.headers, text)
    person = context.speaker_in(request)
    mode = _mode(body, context.mode_of(request, metadata, is_task=is_task), as_of)
    # Two members who begin in the same words have a session each.
    opened_by = user_id if person is None else f"{user_id}\x00{person}"
    session_id = context.session_of(request, metadata.get("session_id"))
    session_id = session_id or context.derived_session(opened_by, system, [*users, text][0])
    mode = context.mode_in_space(request, mode)
    if mode.stores:
        await context.check_said(request, session_id=session_id, by_owners=False)
    return ChatCall(
        user_id=user_id,
        session_id=session_id,
        text=text,
        asked_at=asked.at,
        timed=asked.given,
        mode=mode,
        conversation=conversation,
        message=messages[place] if messages[place].sent else None,
        after=messages[place + 1 :],
        name=person or asked_in.name,
        person=person,
        turn_id=context.turn_id_of(request),
        retried=context.retried(request),
        days=context.days_of(metadata, zone),
        debug=_is_set(metadata, "memory_debug"),
        is_task=is_task,
        is_question=_is_set(metadata, "question"),
        options=options,
        where=where_of(metadata.get("where")),
        labels=labels_of(metadata.get("labels")),
        expires_at=expiry_of(metadata, asked.at, zone),
        reach=reach_of(metadata.get("reach")),
        strict=_is_set(metadata, "strict") if "strict" in metadata else None,
        week_begins=context.week_begins(request, metadata.get("week_begins")),
    )


def _is_set(metadata: Mapping[str, Any], name: str) -> bool:
    return str(metadata.get(name, "")).lower() in _TRUE


def _asked(asked: context.Instant, as_of: date | None) -> context.Instant:
    """When a question is asked. A question as of an earlier day is asked at the end of that day."""
    if as_of is None or asked.given:
        return asked
    ending = in_zone(datetime.combine(as_of, clock_time.max, asked.zone), asked.zone)
    return replace(asked, at=min(asked.at, ending))


def _mode(body: ChatRequest, given: MemoryMode, as_of: date | None) -> MemoryMode:
    """The memory mode: a message asked as of an earlier day is not said on it, so it is not
    stored."""
    if body.model == WITHOUT_MEMORY:
        return MemoryMode.OFF
    return MemoryMode.READ_ONLY if as_of and given is MemoryMode.ON else given


def _question(request: Request, body: ChatRequest, said_in: str) -> int:
    """The place of the message to answer: the user's last one, with nothing after it but calls of
    tools, their results, and rules."""
    if not body.messages:
        raise InvalidRequest(
            f"{said_in} is empty: send at least one user message",
            code="empty_messages",
            param=said_in,
        )
    last = body.messages[-1]
    # Older front ends say in a system message alone what they want for themselves.
    if last.role == "system" and front_ends.is_task(request.headers, last.readable):
        return len(body.messages) - 1
    place = next((n for n, m in reversed([*enumerate(body.messages)]) if m.role == "user"), -1)
    if place < 0 or not (last.role in _RESULTS or last is body.messages[place]):
        raise InvalidRequest(
            "the last message must be the user's, or the result of a tool, got role "
            f"{last.role[:40]!r}",
            param=said_in,
        )
    if is_blank(body.messages[place].said):
        raise InvalidRequest("the last user message is empty", code="empty_messages", param=said_in)
    return place


def _message(message: ChatMessage, sent: Mapping[str, Any]) -> Message:
    """A message of the conversation as a language model reads it: as it came, without the time that
    is for us alone."""
    whole = {name: value for name, value in sent.items() if name != "timestamp"}
    is_text = whole == {"role": message.role, "content": message.readable}
    return Message(message.role, message.readable, None if is_text else whole)
