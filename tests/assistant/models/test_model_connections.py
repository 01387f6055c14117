"""How a model's server is connected to: once for many replies, and no longer than it takes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from assistant.models.chat_model import Message
from assistant.models.server_model import ServerModel
from assistant.models.token_counter import Prices
from assistant.settings import LanguageModel

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_CHUNK = json.dumps({"choices": [{"index": 0, "delta": {"content": "Hi."}}]})
_EVENTS = f"data: {_CHUNK}\n\ndata: [DONE]\n\n".encode()
_BODY = f"{len(_EVENTS):x}\r\n".encode() + _EVENTS + b"\r\n"
_LAST = b"0\r\n\r\n"


@dataclass
class RawServer:
    """Says the same to every request, on as many connections as it is asked on."""

    port: int
    connections: int = 0


@asynccontextmanager
async def raw_server(end: bytes) -> AsyncIterator[RawServer]:
    """A server whose replies have this after their last event."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]
                await reader.readexactly(int(length))
                writer.write(_HEAD + _BODY + end)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    running = RawServer(server.sockets[0].getsockname()[1])
    async with server:
        yield running


@pytest.mark.parametrize(("end", "connections"), [(_LAST, 1), (b"", 3)])
async def test_a_reply_that_ends_leaves_its_connection_to_the_next(
    end: bytes, connections: int
) -> None:
    async with raw_server(end) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        model = ServerModel(
            LanguageModel(name="openai/fake", base_url=url, api_key="k", timeout=5), Prices()
        )
        for _ in range(3):
            pieces = [piece.text async for piece in model.stream([Message("user", "hi")], {})]
            assert pieces == ["Hi."]
        await model.close()
        assert server.connections == connections
