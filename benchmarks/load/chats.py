"""Streaming chats side by side over raw sockets, so that the measuring costs little itself."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = Mapping[str, Any]
_PATH = "/v1/chat/completions"


@dataclass(slots=True)
class ChatTimes:
    """What came of a load: seconds to the first token of each chat, and every failure."""

    first_tokens: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


async def chats_at_once(
    port: int, bodies: Callable[[int], Body], *, chats: int, each: int, spread: float
) -> ChatTimes:
    """So many chats, each asking so many times, one question after the other's answer.

    `bodies` makes the request of a number. The chats begin within `spread` seconds.
    """
    done = ChatTimes()

    async def chat(number: int) -> None:
        await asyncio.sleep(spread * number / chats)
        for turn in range(each):
            await _ask(port, bodies(turn * chats + number), done)

    await asyncio.gather(*(chat(number) for number in range(chats)))
    return done


async def _ask(port: int, body: Body, done: ChatTimes) -> None:
    started = time.perf_counter()
    first: float | None = None
    complete = False
    try:
        async for line in _lines(port, body):
            if first is None and b'"content"' in line:
                first = time.perf_counter() - started
            complete |= line.startswith(b"data: [DONE]")
            if b'"error"' in line:
                done.failures.append(line.decode())
    except (OSError, asyncio.IncompleteReadError) as error:
        done.failures.append(repr(error))
        return
    if first is None or not complete:
        done.failures.append("the reply was not whole")
        return
    done.first_tokens.append(first)
    done.whole.append(time.perf_counter() - started)


async def _lines(port: int, body: Body) -> AsyncIterator[bytes]:
    """The lines of the reply, chunk sizes among them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    sent = json.dumps(body).encode()
    head = f"POST {_PATH} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(sent)}\r\n\r\n"
    writer.write(head.encode() + sent)
    try:
        status = await reader.readline()
        if b" 200 " not in status:
            raise OSError(f"{status.decode().strip()}: {(await reader.read()).decode()[-300:]}")
        # Ends with the last chunk: the scripted model keeps its connections open.
        while (line := await reader.readline()) and line != b"0\r\n":
            yield line
    finally:
        writer.close()
