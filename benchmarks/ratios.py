"""The guarded ratios of our times to fixed work and to chromadb, all measured in one run.

A ratio says how many times longer the baseline takes in processor time, which other work on the
machine hardly changes. Ours and the baseline take turns, so that such changes affect both.
"""

import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

from benchmarks.compare_peers import (
    Call,
    our_store,
    packaged_encoder,
    running,
    searched,
    task,
    written,
)
from benchmarks.load.assistant import all_threads_seconds, serving
from benchmarks.memories import Crowd, Memories
from benchmarks.pairs import PairedTimes, in_turns, timed
from benchmarks.texts import messages, questions, replies
from memory_store.embedding import ModelEncoder, TextKind
from memory_store.embedding.encoder import Matrix

_MANY = 10_000  # rounds of 20 users
_ONE = (Crowd(10_000, 1, "some"), Crowd(50_000, 1, "many"))
_SEARCHES = 40
_WRITTEN = 160
_ENCODED = 96
_PASSES = 3
_CHATS = 25
_WARM = 10
_TEXTS = 300
_FOUND = 10


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio, and the quartiles between which half of its pairs lie."""

    what: str
    value: float
    low: float
    high: float


async def measure(times: int = 1) -> list[Ratio]:
    """All ratios; those to chromadb only if it can be installed. `times` is as in `in_turns`."""
    encoder = packaged_encoder()
    encoding, chatting = await _encoding(encoder, times), await _chatting(times)
    ratios = [
        _ratio("encoding a message, to a product of matrices", encoding),
        _ratio("a chat without a model, to fixed work", chatting),
    ]
    for crowd in _ONE:
        pairs = await _searching(crowd, times)
        ratios.append(_ratio(f"a search among {crowd}, to numpy", pairs))
    # This is last, since Python's garbage collector walks through everything that is held here.
    return ratios + await _beside_chromadb(encoder, times)


async def _beside_chromadb(encoder: ModelEncoder, times: int) -> list[Ratio]:
    """The ratios to chromadb; [] if it cannot be installed or run."""
    given = task(_WRITTEN, _MANY, _SEARCHES, _TEXTS)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder) / "task.npz"
        given.write(file)
        peer = _chromadb(stack, file)
        if peer is None:
            return []
        writing = await written(given, encoder, peer, times)
        peer("load", 0, _MANY)
        async with our_store(given.queries, given.vectors) as (store, engine):
            await engine.upsert(given.points)
            searching = await searched(given, store, peer, _MANY, times)
    return [
        _ratio("writing rounds, to chromadb", writing),
        _ratio("a search among 10,000 rounds of 20 users, to chromadb", searching),
    ]


def _ratio(what: str, pairs: PairedTimes) -> Ratio:
    return Ratio(what, pairs.ratio("processor"), *pairs.quartiles("processor"))


def _chromadb(stack: ExitStack, file: Path) -> Call | None:
    """Start chromadb. If it cannot be installed or run, print why on standard error and return
    None."""
    try:
        peer = stack.enter_context(running("chromadb", file))
        peer("write", 0, 1)
    except (OSError, subprocess.CalledProcessError, RuntimeError) as error:
        print(f"chromadb cannot be had: {error}", file=sys.stderr)
        return None
    return peer


async def _encoding(encoder: ModelEncoder, times: int) -> PairedTimes:
    """Encode messages one by one, beside a matrix product that takes about as long."""
    texts = messages(_ENCODED, seed=3)
    left, right = np.random.default_rng(0).standard_normal((2, 1024, 384), dtype=np.float32)

    async def ours(number: int) -> None:
        encoder.encode([texts[number]], TextKind.DOCUMENT)

    return await in_turns(
        range(_ENCODED), ours, timed(lambda _: left @ right.T), passes=_PASSES, times=times
    )


async def _searching(crowd: Crowd, times: int) -> PairedTimes:
    """Questions of one user, beside a plain search for the rounds of the nearest keys."""
    memories, kept = Memories(texts=_TEXTS), list[Matrix]()
    queries, rows = memories.queries(crowd, _SEARCHES)
    async with our_store(queries, rows) as (store, engine):
        for points in memories.points(crowd):
            await engine.upsert(points)
            kept += [point.keys for point in points]
        keys, first = np.concatenate(kept), np.cumsum([0, *map(len, kept[:-1])])
        del kept

        async def ours(number: int) -> None:
            await store.recall(queries[number])

        def plain(number: int) -> None:
            nearest = np.maximum.reduceat(keys @ rows[number], first)
            np.argpartition(nearest, -_FOUND)[-_FOUND:]

        numbers = range(_SEARCHES)
        return await in_turns(numbers, ours, timed(plain), passes=_PASSES, times=times)


async def _chatting(times: int) -> PairedTimes:
    """Questions to an assistant that quotes, beside fixed work in Python and numpy."""
    left = np.random.default_rng(0).standard_normal((512, 384), dtype=np.float32)
    document = {"words": [text.split() for text in replies(60)]}
    asked = questions(_PASSES * _CHATS * times + _WARM)
    told = zip(messages(40), replies(40), strict=True)

    def fixed(_: int) -> None:
        # It takes as long as a chat, so that a disturbance of some length affects both.
        for _ in range(6):
            left @ left.T
            json.loads(json.dumps(document))

    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (port, process_id):
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            for text, reply in told:
                turns = [
                    {"role": "user", "content": text},
                    {"role": "assistant", "content": reply},
                ]
                body = {"user_id": "ann", "messages": turns}
                (await client.post("/v1/sessions/s/messages", json=body)).raise_for_status()

            async def ours(_: int) -> None:
                body = {
                    "model": "aide-memoire",
                    "messages": [{"role": "user", "content": asked.pop()}],
                    "metadata": {"user_id": "ann", "session_id": "t"},
                }
                (await client.post("/v1/chat/completions", json=body)).raise_for_status()

            def processor() -> float:
                return time.process_time() + all_threads_seconds(process_id)

            await in_turns(range(_WARM), ours, timed(fixed))
            return await in_turns(
                range(_CHATS),
                ours,
                timed(fixed),
                passes=_PASSES,
                times=times,
                processor=processor,
            )
