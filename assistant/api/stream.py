"""Server-sent events of a chat reply: chunks, signs of life while nothing comes, and the end."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from typing import Any, Protocol

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from assistant.api.draining import shutting_down
from assistant.api.errors import error_body
from assistant.chat import ChatDone

Pieces = AsyncGenerator[str | ChatDone, None]
Upcoming = asyncio.Task[str | ChatDone]

_PATIENCE_SECONDS = 5.0
_SIGN_OF_LIFE_SECONDS = 10.0


class StreamedReply(Protocol):
    """A reply as the events of its protocol."""

    def opening(self) -> Iterable[str]:
        """What comes before anything is known."""

    def piece(self, text: str, *, first: bool) -> Iterable[str]:
        """A piece of the answer."""

    def ending(self, text: str, done: ChatDone) -> Iterable[str]:
        """What comes after the whole answer, the end of the stream included."""

    def failure(self, error: Mapping[str, Any]) -> str:
        """A failure in the middle, as clients raise it."""


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
        self, first: Upcoming, pieces: Pieces, reply: StreamedReply, headers: Mapping[str, str]
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
            # Here, and not in the events: they may be cancelled, or never begun.
            self._given_up.cancel()
            await _stop(self._upcoming, self._pieces)

    async def _events(self, reply: StreamedReply) -> AsyncIterator[str]:
        """A failure becomes an error event, which clients raise."""
        text: list[str] = []
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
                for event in reply.piece(piece, first=not text):
                    yield event
                text.append(piece)
                self._upcoming = asyncio.ensure_future(_next(self._pieces))
            for event in reply.ending("".join(text), piece):
                yield event
        except Exception as error:  # the status is sent already: the stream itself must tell
            yield reply.failure(error_body(error)[1]["error"])

    async def _something_happens(self) -> bool:
        """Whether the next piece is there, or nobody waits for it any longer."""
        done, _ = await asyncio.wait(
            {self._upcoming, self._given_up},
            timeout=_SIGN_OF_LIFE_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )
        return bool(done)


async def _next(pieces: Pieces) -> str | ChatDone:
    return await anext(pieces)


async def _stop(upcoming: Upcoming, pieces: Pieces) -> None:
    upcoming.cancel()
    await asyncio.gather(upcoming, return_exceptions=True)
    await pieces.aclose()
