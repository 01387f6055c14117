"""Writing through the store against the encoder alone, on the same texts.

The store also finds facts and dates, counts words, and waits for the write-ahead log; all of it
should hide behind the encoder. Both are measured twice, in turns, and the better of each counts.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.measured import Measured
from benchmarks.texts import messages
from memory_store import MemoryStore, Record, Round
from memory_store._facts import rule_facts
from memory_store._keys import keys_of
from memory_store.embedding import (
    PACKAGED,
    Embedder,
    Encoder,
    ModelEncoder,
    TextKind,
)
from memory_store.engines import EdgeEngine

_USERS = 8
_START = datetime(2024, 1, 1, tzinfo=UTC)


async def measure(rounds: int = 160) -> list[Measured]:
    """Keys a second through the store, given rounds by users, beside the encoder alone.

    The encoder is measured twice: asked round by round like the store, and given all texts at once.
    The difference between these two shows the gain of batches, not work of the store.
    """
    encoder = ModelEncoder(PACKAGED)
    encoder.encode(["warm"], TextKind.DOCUMENT)
    talk = conversation(rounds)
    alone, asked, stored = [], [], []
    for _ in range(2):
        alone.append(await encoded_alone(talk, encoder))
        asked.append(await encoded_by_round(talk, encoder))
        stored.append(await through_the_store(talk, encoder))
    what = f"keys of {rounds} rounds, {_USERS} users"
    return [
        Measured(what, "keys/s", max(stored), max(asked), "the encoder, round by round", True),
        Measured(what, "keys/s", max(stored), max(alone), "the encoder, all at once", True),
    ]


def conversation(rounds: int) -> list[Round]:
    """Made-up rounds of several users, one after the other."""
    replies = messages(rounds, seed=1)
    return [
        Round(f"user{n % _USERS}", f"s{n // 80}", n, _START + timedelta(hours=n), text, replies[n])
        for n, text in enumerate(messages(rounds))
    ]


async def encoded_alone(rounds: Sequence[Round], encoder: Encoder) -> float:
    """Keys a second when nothing but the encoder works."""
    texts = key_texts(rounds)
    embedder = Embedder(encoder, workers=os.cpu_count() or 1)
    started = time.perf_counter()
    await embedder.embed(texts, TextKind.DOCUMENT)
    taken = time.perf_counter() - started
    await embedder.close()
    return len(texts) / taken


async def encoded_by_round(rounds: Sequence[Round], encoder: Encoder) -> float:
    """Keys a second of the encoder when every user sends the keys of one round after another."""
    embedder = Embedder(encoder, workers=os.cpu_count() or 1)

    async def ask(own: Sequence[Round]) -> None:
        for round in own:
            await embedder.embed(key_texts([round]), TextKind.DOCUMENT)

    started = time.perf_counter()
    await asyncio.gather(*(ask(rounds[n::_USERS]) for n in range(_USERS)))
    taken = time.perf_counter() - started
    await embedder.close()
    return len(key_texts(rounds)) / taken


async def through_the_store(rounds: Sequence[Round], encoder: Encoder) -> float:
    """Keys a second when every user sends rounds one after the other."""
    embedder = Embedder(encoder, workers=os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as folder:
        store = MemoryStore(EdgeEngine(Path(folder)), embedder)
        await store.open()
        started = time.perf_counter()
        await sent_by_users(store, rounds)
        taken = time.perf_counter() - started
        await store.close()
    return len(key_texts(rounds)) / taken


async def sent_by_users(store: MemoryStore, rounds: Sequence[Round]) -> None:
    """Send the rounds of all users at once; each user sends one round after the other."""

    async def send(own: Sequence[Round]) -> None:
        for round in own:
            await store.remember([round])

    await asyncio.gather(*(send(rounds[n::_USERS]) for n in range(_USERS)))


def key_texts(rounds: Sequence[Round]) -> list[str]:
    """The distinct key texts of these rounds."""
    return list(
        dict.fromkeys(key.text for r in rounds for key in keys_of(Record(r, rule_facts(r))))
    )
