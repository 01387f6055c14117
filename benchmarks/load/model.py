"""A language model that costs nearly nothing: known text, known delays, raw sockets.

Run as a program it prints its port. What it is asked is read and thrown away.
"""

import asyncio
import json
import re
import sys
from dataclasses import dataclass
from itertools import count

from assistant.answering.notes import MARKER

_LENGTH = re.compile(rb"content-length: *(\d+)", re.I)
_REFUSED = b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n"
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Script:
    """Seconds before the first piece, how many pieces, and seconds between them."""

    first: float = 1.0
    pieces: int = 40
    every: float = 0.1
    fails_every: int = 0
    """One request in this many is refused; 0 refuses none."""

    @property
    def seconds(self) -> float:
        """How long a reply takes."""
        return self.first + (self.pieces - 1) * self.every


async def serve(script: Script) -> None:
    """Answer until the process is ended."""
    pieces = [f"Noted. \n{MARKER}\nword", *["more words "] * (script.pieces - 1)]
    events = [_chunk(piece) for piece in pieces]
    numbers = count(1)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await _request_read(reader):
                if script.fails_every and next(numbers) % script.fails_every == 0:
                    writer.write(_REFUSED)
                else:
                    await _reply(writer, script, events)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


async def _request_read(reader: asyncio.StreamReader) -> bool:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return False
    found = _LENGTH.search(head)
    await reader.readexactly(int(found[1]) if found else 0)
    return True


async def _reply(writer: asyncio.StreamWriter, script: Script, events: list[bytes]) -> None:
    loop = asyncio.get_running_loop()
    writer.write(_HEAD)
    due = loop.time() + script.first
    for event in events:
        # Events are due by the clock, so that delays do not add up.
        await asyncio.sleep(max(0.0, due - loop.time()))
        writer.write(event)
        due += script.every
    writer.write(_LAST)
    await writer.drain()


def _chunk(text: str | None, **more: object) -> bytes:
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": None}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    return _framed(json.dumps({**body, "choices": [choice | more]}))


def _framed(data: str) -> bytes:
    event = f"data: {data}\n\n".encode()
    return f"{len(event):x}\r\n".encode() + event + b"\r\n"


_LAST = _chunk(None, finish_reason="stop") + _framed("[DONE]") + b"0\r\n\r\n"


if __name__ == "__main__":
    given = sys.argv[1:]
    asyncio.run(serve(Script(float(given[0]), int(given[1]), float(given[2]), int(given[3]))))
