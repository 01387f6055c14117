"""A chat reply in one piece, for as long as its client waits for it."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Protocol

from fastapi import Request
from fastapi.responses import Response

from assistant.api.observed import CLIENT_LEFT
from assistant.api.replies import Reply, json_response
from assistant.api.stream import Pieces
from assistant.chat import ChatDone


class WholeReply(Protocol):
    """A reply as the body of its protocol."""

    def whole(self, text: str, done: ChatDone) -> Reply:
        """The reply in one object."""


async def answer_whole(
    request: Request, pieces: Pieces, reply: WholeReply, headers: Mapping[str, str]
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


async def _whole(pieces: Pieces) -> tuple[str, ChatDone]:
    text: list[str] = []
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, ChatDone):
                return "".join(text), piece
            text.append(piece)
    raise RuntimeError("the answer never ended")


async def _disconnected(request: Request) -> None:
    """Returns when the client has left; the body of its request was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
