"""The route of responses: OpenAI's newer way to chat, where the server knows the conversation.

A conversation is a session: what was said in it is read from memory, so that the client sends only
what is new. The conversation goes on from its end, whichever of its responses is named.
"""

import base64
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from assistant.api.chat import answered, chat_call, check_place
from assistant.api.description import ANSWERING, failures, streamed
from assistant.api.models import chat_of, checked_profile
from assistant.api.replies.responses import RESPONSE_STREAMED, ResponseObject, ResponseReply
from assistant.api.request_context import counts_retries, services, speaker_in, user_of
from assistant.api.requests.chat import ChatMessage, ChatRequest
from assistant.api.requests.responses import ResponseRequest, chat_messages, chat_options
from assistant.api.route import JsonRoute
from assistant.chat.call import ChatCall, UserSession
from assistant.chat.members import MemberRole
from assistant.errors import InvalidRequest, NotFound
from assistant.models.chat_model import Message

router = APIRouter(prefix="/v1/responses", tags=["chat"], route_class=JsonRoute)
_PREFIX = "resp_"
# Rounds of the conversation that are read again as working context.
_EARLIER_ROUNDS = 20


@router.post(
    "",
    summary="Chat by OpenAI's Responses API",
    response_model=ResponseObject,
    responses=failures(*ANSWERING, 413) | streamed(RESPONSE_STREAMED),
)
async def create_response(request: Request, body: ResponseRequest) -> Response:
    """Answer the last user item of the input; stored and streamed as chats are."""
    sent = await request.json()
    check_place(sent)
    session_id = _session(body)
    call = await _called(request, body, sent, session_id)
    if session_id:
        call = _continued(request, call, await _earlier(request, body, call))
    reply = ResponseReply(
        id=_response_id(call.session_id),
        message_id=f"msg_{uuid.uuid4().hex}",
        created=int(time.time()),
        model=checked_profile(request, body.model),
        call=call,
        request=body,
        tool_choice=sent.get("tool_choice"),
    )
    return await answered(request, body, reply)


async def _called(
    request: Request, body: ResponseRequest, sent: Mapping[str, Any], session_id: str | None
) -> ChatCall:
    given = body.metadata or {}
    users = (given.get("user_id"), body.user, body.safety_identifier)
    user_id = await user_of(request, *users, space=given.get("space"), role=MemberRole.READER)
    messages = _messages(sent)
    if session_id is not None and messages and all(m["role"] == "tool" for m in messages):
        messages = [*_calling(request, user_id, session_id), *messages]
    if body.instructions:
        messages.insert(0, {"role": "system", "content": body.instructions})
    metadata = {**given, **({} if session_id is None else {"session_id": session_id})}
    chat = ChatRequest(
        model=body.model,
        messages=[ChatMessage.model_validate(message) for message in messages],
        metadata=metadata,
    )
    try:
        options = chat_options(sent)
        return await chat_call(request, chat, messages, options, user_id, said_in="input")
    except InvalidRequest as error:
        if error.param != "messages":
            raise
        raise InvalidRequest(error.message, code=error.code, param="input") from error


def _messages(sent: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = sent["input"]
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return chat_messages(given)


def _calling(request: Request, user_id: str, session_id: str) -> list[dict[str, Any]]:
    """The messages of the loop of tool calls that a request goes on with, from the question on.
    Raises `NotFound`."""
    place = UserSession(user_id, session_id, speaker_in(request))
    loop = chat_of(request, None).loop(place)
    if loop is None:
        raise NotFound(
            "the tool calls of this conversation are not known here (any more): send the input "
            "items from the user's last message on",
            code="response_not_found",
            param="previous_response_id",
        )
    return [message.body for message in loop.messages]


def _continued(request: Request, call: ChatCall, earlier: Sequence[Message]) -> ChatCall:
    """The call with the session's earlier messages before its own. These do not tell a retry from
    the same words said again, unless the client counts its retries: then the same words in a first
    try are said again."""
    rules = [message for message in call.conversation if message.role == "system"]
    said = [message for message in call.conversation if message.role != "system"]
    conversation = [*rules, *earlier, *said]
    is_new = counts_retries(request) and not call.retried
    sent_along = conversation if is_new else call.conversation
    return replace(call, conversation=conversation, sent_along=sent_along)


def _session(body: ResponseRequest) -> str | None:
    """The session that the request goes on with: its conversation, or that of a response."""
    if body.conversation is not None:
        if body.previous_response_id is not None:
            raise InvalidRequest(
                "send conversation or previous_response_id, not both", param="conversation"
            )
        given = body.conversation
        return given if isinstance(given, str) else given.id
    return _session_of_response(body.previous_response_id) if body.previous_response_id else None


async def _earlier(request: Request, body: ResponseRequest, call: ChatCall) -> list[Message]:
    records = await services(request).store.session(call.user_id, call.session_id)
    # A client may go on after a request to forget, or in a loop of tool calls: neither is stored.
    goes_on = bool(call.after) or await chat_of(request, None).waits(call)
    if body.previous_response_id and not records and not goes_on:
        raise _unknown(body.previous_response_id)
    rounds = [record.round for record in records[-_EARLIER_ROUNDS:]]
    if call.after and rounds and rounds[-1].user_text == call.text:
        rounds.pop()  # the round that is being answered
    sides = [
        side
        for round in rounds
        for side in (("user", round.user_text), ("assistant", round.assistant_text))
    ]
    return [Message(role, text) for role, text in sides if text.strip()]


def _response_id(session_id: str) -> str:
    """An id that contains the id of the session, because no response is kept beside memory."""
    packed = base64.urlsafe_b64encode(session_id.encode()).decode().rstrip("=")
    return f"{_PREFIX}{uuid.uuid4().hex}.{packed}"


def _session_of_response(response_id: str) -> str:
    _, _, packed = response_id.removeprefix(_PREFIX).partition(".")
    try:
        session_id = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode()
    except ValueError as error:
        raise _unknown(response_id) from error
    if not session_id or not response_id.startswith(_PREFIX):
        raise _unknown(response_id)
    return session_id


def _unknown(response_id: Any) -> NotFound:
    return NotFound(
        f"this user has no response {str(response_id)[:80]!r}",
        code="response_not_found",
        param="previous_response_id",
    )
