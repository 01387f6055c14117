"""Server-sent events of a chat reply: chunks, signs of life while nothing comes, and the end."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from assistant.api.chat_reply import ChatReply
from assistant.api.errors import error_body
from assistant.chat import ChatDone

Pieces = AsyncGenerator[str | ChatDone, None]
Upcoming = asyncio.Task[str | ChatDone]

_PATIENCE_SECONDS = 5.0
_SIGN_OF_LIFE_SECONDS = 10.0


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

    A client that leaves stops the model, and the unfinished answer is not stored.
    """

    def __init__(
        self, first: Upcoming, pieces: Pieces, reply: ChatReply, headers: Mapping[str, str]
    ) -> None:
        self._upcoming = first
        self._pieces = pieces
        super().__init__(self._events(reply), media_type="text/event-stream", headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Here, and not in the events: they may be cancelled, or never begun.
            await _stop(self._upcoming, self._pieces)

    async def _events(self, reply: ChatReply) -> AsyncIterator[str]:
        """A failure becomes an error event, which clients raise."""
        text: list[str] = []
        try:
            while True:
                while not (await asyncio.wait({self._upcoming}, timeout=_SIGN_OF_LIFE_SECONDS))[0]:
                    yield ": still here\n\n"
                piece = self._upcoming.result()
                if isinstance(piece, ChatDone):
                    break
                yield _event(reply.chunk(piece, first=not text))
                text.append(piece)
                self._upcoming = asyncio.ensure_future(_next(self._pieces))
            for chunk in reply.last_chunks("".join(text), piece):
                yield _event(chunk)
            yield "data: [DONE]\n\n"
        except Exception as error:  # the status is sent already: the stream itself must tell
            yield _event(error_body(error)[1])


async def _next(pieces: Pieces) -> str | ChatDone:
    return await anext(pieces)


async def _stop(upcoming: Upcoming, pieces: Pieces) -> None:
    upcoming.cancel()
    await asyncio.gather(upcoming, return_exceptions=True)
    await pieces.aclose()


def _event(body: dict[str, Any]) -> str:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"
