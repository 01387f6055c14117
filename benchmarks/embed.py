"""The embedder against plain torch: `SentenceTransformer.encode` as it comes."""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer

from benchmarks.measured import Measured
from benchmarks.texts import messages
from memory_store.embedding import (
    PACKAGED,
    DiskCache,
    Embedder,
    ModelEncoder,
    TextKind,
)
from memory_store.language.sentences import sentences
from supply_chain.eight_bits import base_folder

_ROUNDS = 80
_CALLERS = 8
_DISK_BYTES = 64 * 1024 * 1024


async def measure() -> list[Measured]:
    """Texts a second: round by round, in bulk, and again with the vectors of the disk cache."""
    # A request has the keys of one round: its text, and the sentences of a longer text.
    requests = [list(dict.fromkeys([text, *sentences(text)])) for text in messages(_ROUNDS)]
    bulk = [list(chain.from_iterable(requests))]
    plain, reference = _plain(requests), _plain(bulk)
    encoder = ModelEncoder(PACKAGED)
    encoder.encode(["warm"], TextKind.DOCUMENT)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "vectors.sqlite"
        first = await _ours(encoder, requests, cache)
        again = await _ours(encoder, requests, cache)
    in_bulk = await _ours(encoder, bulk)
    return [
        Measured("round by round", "texts/s", first, plain, "plain torch", True),
        Measured("in bulk", "texts/s", in_bulk, reference, "plain torch", True),
        Measured("restarted", "texts/s", again, first, "the first time", True),
        Measured("mean cosine", "thousandths", 1000 * _cosine(encoder), 1000.0, "torch", True),
    ]


def _plain(requests: list[list[str]]) -> float:
    """Texts a second of the library's defaults, all cores in each call."""
    with _threads(os.cpu_count() or 1):
        model = SentenceTransformer(str(base_folder()), device="cpu")
        model.encode(["warm"])
        return _rate(requests, lambda: [model.encode(texts) for texts in requests])


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    yield
    torch.set_num_threads(before)


def _rate(requests: list[list[str]], work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return sum(map(len, requests)) / (time.perf_counter() - started)


async def _ours(
    encoder: ModelEncoder, requests: list[list[str]], cache: Path | None = None
) -> float:
    """Texts a second of a new embedder when several callers send one request after the other."""
    disk_cache = DiskCache(cache, max_bytes=_DISK_BYTES) if cache else None
    embedder = Embedder(encoder, workers=os.cpu_count() or 1, disk_cache=disk_cache)
    waiting = iter(requests)

    async def caller() -> None:
        for texts in waiting:
            await embedder.embed(texts, TextKind.DOCUMENT)

    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(_CALLERS)))
    seconds = time.perf_counter() - started
    await embedder.close()
    return sum(map(len, requests)) / seconds


def _cosine(encoder: ModelEncoder) -> float:
    """Mean cosine to the plain model, on messages of another seed."""
    texts = messages(60, seed=1)
    model = SentenceTransformer(str(base_folder()), device="cpu")
    rows = model.encode(texts, normalize_embeddings=True)
    return float((rows * encoder.encode(texts, TextKind.DOCUMENT)).sum(axis=1).mean())
