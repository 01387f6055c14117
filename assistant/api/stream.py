"""Answers on their way to the client: as events while they are made, or whole at their end."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Protocol

from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from assistant.answering.reader import AnswerPiece
from assistant.api.errors import error_body
from assistant.api.middleware import CLIENT_LEFT, shutting_down
from assistant.api.replies import Reply, json_response
from assistant.chat.call import ChatCall, ChatDone
from assistant.chat.chat import Pieces

DONE = "data: [DONE]\n\n"


def event(body: Mapping[str, Any], name: str | None = None) -> str:
    """One event, with its name where the protocol gives it one."""
    plain = partial(Reply.model_dump, mode="json", exclude_unset=True)
    data = f"data: {json.dumps(body, ensure_ascii=False, default=plain)}\n\n"
    return data if name is None else f"event: {name}\n{data}"


Upcoming = asyncio.Task[AnswerPiece | ChatDone]

_PATIENCE_SECONDS = 5.0
_SIGN_OF_LIFE_SECONDS = 10.0


class CallReply(Protocol):
    """A reply to a call in the form of its protocol: as events, or whole."""

    @property
    def call(self) -> ChatCall:
        """The call that is replied to."""

    def whole(self, pieces: Sequence[AnswerPiece], done: ChatDone) -> Reply:
        """The reply in one object."""

    def opening(self) -> Iterable[str]:
        """The first events, before any piece of the answer is there."""

    def piece(self, piece: AnswerPiece, *, first: bool) -> Iterable[str]:
        """The events of a piece of the answer."""

    def ending(self, pieces: Sequence[AnswerPiece], done: ChatDone) -> Iterable[str]:
        """The last events, after the whole answer."""

    def failure(self, error: Mapping[str, Any]) -> str:
        """The event of a failure in the middle of the answer, in the form that clients raise."""


async def started(pieces: Pieces) -> Upcoming:
    """Begin the reply; raises what fails at once, and does not wait long for the first piece."""
    first = asyncio.ensure_future(_next(pieces))
    try:
        await asyncio.wait({first}, timeout=_PATIENCE_SECONDS)
        if first.done():
            first.result()
    except BaseException:
        await _stop(first, pieces)
        raise
    return first


class ReplyStream(StreamingResponse):
    """The events of one chat reply. However it ends, the answer under way ends with it.

    A client that leaves stops the model, and the unfinished answer is not stored; so does a server
    that shuts down and has lost its patience.
    """

    def __init__(
        self, first: Upcoming, pieces: Pieces, reply: CallReply, headers: Mapping[str, str]
    ) -> None:
        self._upcoming = first
        self._pieces = pieces
        super().__init__(self._events(reply), media_type="text/event-stream", headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        out_of_patience = scope["app"].state.shutdown.out_of_patience
        self._given_up = asyncio.ensure_future(out_of_patience.wait())
        try:
            await super().__call__(scope, receive, send)
        finally:
            # The clean-up stands here because the events may be cancelled, or never begun.
            self._given_up.cancel()
            await _stop(self._upcoming, self._pieces)

    async def _events(self, reply: CallReply) -> AsyncIterator[str]:
        """A failure becomes an error event, which clients raise."""
        pieces: list[AnswerPiece] = []
        try:
            for event in reply.opening():
                yield event
            while True:
                while not await self._something_happens():
                    yield ": still here\n\n"
                if not self._upcoming.done():
                    raise shutting_down()
                piece = self._upcoming.result()
                if isinstance(piece, ChatDone):
                    break
                for event in reply.piece(piece, first=not pieces):
                    yield event
                pieces.append(piece)
                self._upcoming = asyncio.ensure_future(_next(self._pieces))
            for event in reply.ending(pieces, piece):
                yield event
        except Exception as error:  # the status is sent already: the stream itself must tell
            yield reply.failure(error_body(error)[1]["error"])

    async def _something_happens(self) -> bool:
        """Wait a while. Return whether the next piece is there, or the server has given it up."""
        done, _ = await asyncio.wait(
            {self._upcoming, self._given_up},
            timeout=_SIGN_OF_LIFE_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )
        return bool(done)


async def _next(pieces: Pieces) -> AnswerPiece | ChatDone:
    return await anext(pieces)


async def _stop(upcoming: Upcoming, pieces: Pieces) -> None:
    upcoming.cancel()
    await asyncio.gather(upcoming, return_exceptions=True)
    await pieces.aclose()


async def answer_whole(
    request: Request, pieces: Pieces, reply: CallReply, headers: Mapping[str, str]
) -> Response:
    """The response with the whole answer. A client that leaves stops the model, as in a stream, and
    the unfinished answer is not stored."""
    answer = asyncio.ensure_future(_whole(pieces))
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            return Response(status_code=CLIENT_LEFT)
        return json_response(reply.whole(*answer.result()), headers)
    finally:
        gone.cancel()
        answer.cancel()
        await asyncio.gather(gone, answer, return_exceptions=True)


async def _whole(pieces: Pieces) -> tuple[list[AnswerPiece], ChatDone]:
    all: list[AnswerPiece] = []
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, ChatDone):
                return all, piece
            all.append(piece)
    raise RuntimeError("the answer never ended")


async def _disconnected(request: Request) -> None:
    """Returns when the client has left; the body of its request was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
