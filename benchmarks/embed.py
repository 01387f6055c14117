"""The embedder against the plain model, one text after the other, as a simple server would."""

import asyncio
import os
import time

from benchmarks.measured import Measured
from benchmarks.texts import messages
from memory_store import PACKAGED, Embedder, SentenceTransformerEncoder, TextKind

_TEXTS = 240
_CALLERS = 8


async def measure() -> list[Measured]:
    """Texts a second with eight callers, and of texts that were seen before."""
    encoder = SentenceTransformerEncoder(PACKAGED)
    encoder.encode(["warm"], TextKind.DOCUMENT)
    texts = messages(_TEXTS)
    started = time.perf_counter()
    for text in texts:
        encoder.encode([text], TextKind.DOCUMENT)
    plain = len(texts) / (time.perf_counter() - started)
    embedder = Embedder(encoder, workers=os.cpu_count() or 1)
    first = await _rate(embedder, texts)
    again = await _rate(embedder, texts)
    await embedder.close()
    return [
        Measured(f"{_CALLERS} callers", "texts/s", first, plain, "one by one", True),
        Measured("the same texts again", "texts/s", again, first, "the first time", True),
    ]


async def _rate(embedder: Embedder, texts: list[str]) -> float:
    """Texts a second when several callers send one after the other."""
    waiting = iter(texts)

    async def caller() -> None:
        for text in waiting:
            await embedder.embed([text], TextKind.DOCUMENT)

    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(_CALLERS)))
    return len(texts) / (time.perf_counter() - started)
