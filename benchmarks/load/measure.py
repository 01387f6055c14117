"""The figures of load, each beside the same load without the assistant where this is possible.

Load generator, model and assistant share the machine. The baseline is the same load straight
against the model, which shows what generator and model take. Chats stream side by side over raw
sockets, so that the measuring costs little itself.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.load.assistant import (
    filled,
    printing,
    processor_seconds,
    questions_of,
    resident_mb,
    serving,
)
from benchmarks.load.model import Script
from benchmarks.measured import Measured
from benchmarks.memories import ASKED_ON, Crowd
from benchmarks.processes import taken_by_host
from memory_store import Query
from memory_store.embedding import (
    PACKAGED,
    Encoder,
    HashEncoder,
    ModelEncoder,
)

Body = Mapping[str, Any]
_PATH = "/v1/chat/completions"


@dataclass(slots=True)
class ChatTimes:
    """The results of a load: seconds to the first token and to the end of each reply, and every
    failure."""

    first_tokens: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


async def chats_at_once(
    port: int, bodies: Callable[[int], Body], *, chats: int, each: int, spread: float
) -> ChatTimes:
    """Run `chats` chats side by side; each asks `each` questions, one after the other's answer.

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


CROWDS = (Crowd(10_000, 1), Crowd(10_000, 50))
_CHATS = 50
QUICK = Script(first=0.0, pieces=3, every=0.0)


async def measure(
    crowds: Sequence[Crowd] = CROWDS,
    *,
    chats: int = _CHATS,
    each: int = 4,
    script: Script | None = None,
    embedder: str = PACKAGED,
) -> list[Measured]:
    """First tokens of chats at once, over each memory, beside those straight from the model."""
    script = script or Script()
    results = []
    for crowd in crowds:
        with tempfile.TemporaryDirectory() as folder, scripted(script) as model:
            await filled(Path(folder), crowd, _encoder(embedder))
            queries = questions_of(crowd, chats * (each + 2))
            settings = settings_for(model, embedder)
            with serving(Path(folder), **settings) as (port, process_id):
                results += await _under_load(
                    crowd, queries, (port, process_id, model), chats, each, script
                )
    return results


async def _under_load(
    crowd: Crowd,
    queries: Sequence[Query],
    where: tuple[int, int, int],
    chats: int,
    each: int,
    script: Script,
) -> list[Measured]:
    port, process_id, model = where
    warm, asked = queries[: 2 * chats], queries[2 * chats :]
    await chats_at_once(port, _bodies(warm), chats=chats, each=2, spread=script.seconds)
    used = processor_seconds(process_id)
    before = taken_by_host()
    began = time.perf_counter()
    ours = await chats_at_once(port, _bodies(asked), chats=chats, each=each, spread=script.seconds)
    busy = (processor_seconds(process_id) - used) / (time.perf_counter() - began)
    taken, passed = (now - then for now, then in zip(taken_by_host(), before, strict=True))
    alone = await chats_at_once(
        model, _bodies(asked), chats=chats, each=each, spread=script.seconds
    )
    what = f"first token, {chats} chats, {crowd}"
    details = {
        "failures": len(ours.failures) + len(alone.failures),
        "answers": len(ours.first_tokens),
        "processors_used": busy,
        "percent_taken_by_host": 100 * taken / passed,
        "resident_mb": resident_mb(process_id),
        "reply_p50": _percentile(ours.whole, 50),
        "model_says_after": script.first * 1000,
    }
    for failure in ours.failures[:3]:
        print(f"failed: {failure[:300]}", file=sys.stderr)
    return [
        Measured(
            f"{what}, p{percent}",
            "ms",
            _percentile(ours.first_tokens, percent),
            _percentile(alone.first_tokens, percent),
            "the model alone",
            False,
            {"added": _added(ours, alone, percent), **details},
        )
        for percent in (50, 95)
    ]


async def measure_start(embedder: str = PACKAGED) -> list[Measured]:
    """Seconds from nothing to the first answer, beside a Python process that does nothing."""
    with tempfile.TemporaryDirectory() as folder, scripted(QUICK) as model:
        settings = settings_for(model, embedder)
        taken, quoting = [], []
        for _ in range(2):  # Only the second start counts: the first fills the system's file cache.
            taken.append(await _started(Path(folder), settings))
            without = {"embedder": settings["embedder"]}
            quoting.append(await _started(Path(folder), without))
    code = "import assistant, memory_store, harness"
    imported, nothing = _seconds(code), _seconds("pass")
    ready, answered, idle = taken[-1]
    details = {"ready_s": ready, "idle_mb": idle, "quoting_s": quoting[-1][1]}
    details |= {"quoting_idle_mb": quoting[-1][2]}
    bare = "a bare interpreter"
    return [
        Measured("start to the first answer", "s", answered, nothing, bare, False, details),
        Measured("import of the packages", "s", imported, nothing, bare, False),
    ]


async def _started(folder: Path, settings: Mapping[str, str]) -> tuple[float, float, float]:
    """Seconds until it is ready, seconds until it has answered, and its memory in between."""
    began = time.perf_counter()
    with serving(folder, **settings) as (port, process_id):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            (await client.get("/ready")).raise_for_status()
            ready, idle = time.perf_counter() - began, resident_mb(process_id)
            body = chat_request(Query("ann", "What did I buy?"), "s")
            (await client.post("/v1/chat/completions", json=body)).raise_for_status()
            return ready, time.perf_counter() - began, idle


def _seconds(code: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


@contextmanager
def scripted(script: Script) -> Iterator[int]:
    """The port of a scripted model, a process of its own."""
    given = [script.first, script.pieces, script.every, script.fails_every]
    command = [sys.executable, "-m", "benchmarks.load.model", *map(str, given)]
    with printing(command, {}) as (line, _):
        yield int(line)


def settings_for(model: int, embedder: str) -> dict[str, str]:
    """The settings of an assistant that answers with the model at this port."""
    return {
        "embedder": embedder,
        "chat_model": "openai/scripted",
        "chat_model__base_url": f"http://127.0.0.1:{model}/v1",
        "chat_model__api_key": "none",
    }


def _encoder(embedder: str) -> Encoder:
    return HashEncoder() if embedder == "hash" else ModelEncoder(embedder)


def _bodies(queries: Sequence[Query]) -> Callable[[int], Body]:
    return lambda number: chat_request(queries[number], f"load{number}")


def chat_request(query: Query, session_id: str) -> dict[str, Any]:
    """A streamed question, asked on the day that the made-up memories end."""
    metadata = {"user_id": query.user_id, "session_id": session_id, "timestamp": str(ASKED_ON)}
    return {
        "model": "aide-memoire",
        "stream": True,
        "messages": [{"role": "user", "content": query.text}],
        "metadata": metadata,
    }


def _added(ours: ChatTimes, alone: ChatTimes, percent: int) -> float:
    return _percentile(ours.first_tokens, percent) - _percentile(alone.first_tokens, percent)


def _percentile(seconds: Sequence[float], percent: int) -> float:
    return float(np.percentile(seconds, percent)) * 1000 if seconds else float("nan")
