"""Server-sent events of a chat reply: chunks, signs of life while nothing comes, and the end."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from assistant.api.chat_reply import ChatReply
from assistant.api.errors import error_body
from assistant.chat import ChatDone

Pieces = AsyncIterator[str | ChatDone]
First = asyncio.Task[str | ChatDone]

_PATIENCE_SECONDS = 5.0
_SIGN_OF_LIFE_SECONDS = 10.0


async def started(pieces: Pieces) -> First:
    """Begin the reply; raises what fails at once, and does not wait long for the first piece."""
    first = asyncio.ensure_future(_next(pieces))
    await asyncio.wait({first}, timeout=_PATIENCE_SECONDS)
    if first.done():
        first.result()
    return first


async def event_stream(first: First, pieces: Pieces, reply: ChatReply) -> AsyncIterator[str]:
    """The events of a reply. A failure becomes an error event, which clients raise."""
    text: list[str] = []
    upcoming = first
    try:
        while True:
            while not (await asyncio.wait({upcoming}, timeout=_SIGN_OF_LIFE_SECONDS))[0]:
                yield ": still here\n\n"
            piece = upcoming.result()
            if isinstance(piece, ChatDone):
                break
            yield _event(reply.chunk(piece, first=not text))
            text.append(piece)
            upcoming = asyncio.ensure_future(_next(pieces))
        for chunk in reply.last_chunks("".join(text), piece):
            yield _event(chunk)
        yield "data: [DONE]\n\n"
    except Exception as error:  # the status is sent already: the stream itself must tell
        yield _event(error_body(error)[1])
    finally:
        # A client that leaves stops the model; the unfinished answer is not stored.
        upcoming.cancel()
        await asyncio.gather(upcoming, return_exceptions=True)


async def _next(pieces: Pieces) -> str | ChatDone:
    return await anext(pieces)


def _event(body: dict[str, Any]) -> str:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"
