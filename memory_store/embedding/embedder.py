"""The embedder: an encoder off the event loop, with batching across callers and a cache.

A few worker threads share the encoder. While they are busy, requests queue; a worker that is free
takes the oldest one and others of about its length, so batches grow with the load, little is
wasted on padding, and a lone request never waits for company.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from memory_store.embedding.encoder import Encoder, EncoderIdentity, Matrix, TextKind
from memory_store.errors import EmbeddingFailed

Vector = npt.NDArray[np.float32]
_CacheKey = tuple[TextKind, bytes]
# How far a worker looks down the queue for texts of like length.
_WINDOW = 64
# A batch is as wide as its longest text. Beyond this much it is no faster, only larger in memory.
_PADDED_CHARACTERS = 6000


@dataclass(frozen=True, slots=True)
class EmbedderStats:
    """What the embedder did since it was made."""

    texts: int
    encoded: int
    batches: int


@dataclass(slots=True)
class _Request:
    text: str
    kind: TextKind
    vector: "asyncio.Future[Vector]"


class Embedder:
    """Async front of an `Encoder`; equal texts are encoded once while the cache holds them."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        workers: int = 1,
        batch_size: int = 16,
        cached_texts: int = 32_000,
    ) -> None:
        self._encoder = encoder
        self._workers = workers
        self._batch_size = batch_size
        self._cached_texts = cached_texts
        self._cache: OrderedDict[_CacheKey, Vector] = OrderedDict()
        self._unfinished: dict[_CacheKey, _Request] = {}
        self._queue: dict[_CacheKey, _Request] = {}
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="encoder")
        self._running: set[asyncio.Task[None]] = set()
        self._texts = self._encoded = self._batches = 0
        self._closed = False

    @property
    def identity(self) -> EncoderIdentity:
        """The encoder's vector space."""
        return self._encoder.identity

    @property
    def stats(self) -> EmbedderStats:
        """Texts asked for, texts really encoded, and in how many batches."""
        return EmbedderStats(self._texts, self._encoded, self._batches)

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length a text, in order. Raises `EmbeddingFailed`."""
        if self._closed:
            raise EmbeddingFailed("the embedder is closed")
        self._texts += len(texts)
        vectors = await asyncio.gather(*(self._vector(text, kind) for text in texts))
        return np.stack(vectors) if vectors else np.empty((0, self.identity.dimension), np.float32)

    async def close(self) -> None:
        """Finish the texts that were asked for and stop the threads."""
        self._closed = True
        await asyncio.gather(*self._running, return_exceptions=True)
        self._threads.shutdown(wait=True)

    async def _vector(self, text: str, kind: TextKind) -> Vector:
        key = _cache_key(text, kind)
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        if key not in self._unfinished:
            future: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
            self._unfinished[key] = self._queue[key] = _Request(text, kind, future)
            self._wake()
        # Shielded: one caller going away must not cancel the text for another.
        return await asyncio.shield(self._unfinished[key].vector)

    def _wake(self) -> None:
        if len(self._running) < self._workers:
            worker = asyncio.create_task(self._encode_queued())
            self._running.add(worker)
            worker.add_done_callback(self._running.discard)

    async def _encode_queued(self) -> None:
        while self._queue:
            batch = self._next_batch()
            requests = list(batch.values())
            try:
                vectors = await asyncio.get_running_loop().run_in_executor(
                    self._threads,
                    self._encoder.encode,
                    [r.text for r in requests],
                    requests[0].kind,
                )
            except Exception as error:  # whatever it was, each waiting caller must hear of it
                self._fail(batch, error)
            else:
                self._deliver(batch, vectors)

    def _next_batch(self) -> dict[_CacheKey, _Request]:
        """The oldest request and those nearest to it in length: a fair share of what waits."""
        oldest = next(iter(self._queue.values()))
        window = [
            (key, request)
            for key, request in islice(self._queue.items(), _WINDOW)
            if request.kind is oldest.kind
        ]
        window.sort(key=lambda item: abs(len(item[1].text) - len(oldest.text)))
        share = -(-len(window) // self._workers)
        batch: dict[_CacheKey, _Request] = {}
        longest = 0
        for key, request in window[: min(share, self._batch_size)]:
            longest = max(longest, len(request.text))
            if batch and longest * (len(batch) + 1) > _PADDED_CHARACTERS:
                break
            batch[key] = self._queue.pop(key)
        return batch

    def _deliver(self, batch: dict[_CacheKey, _Request], vectors: Matrix) -> None:
        self._encoded += len(batch)
        self._batches += 1
        for (key, request), vector in zip(batch.items(), vectors, strict=True):
            # Copied, so that a cached row does not keep its whole batch alive.
            self._cache[key] = vector.copy()
            del self._unfinished[key]
            request.vector.set_result(self._cache[key])
        while len(self._cache) > self._cached_texts:
            self._cache.popitem(last=False)

    def _fail(self, batch: dict[_CacheKey, _Request], error: Exception) -> None:
        for key, request in batch.items():
            del self._unfinished[key]
            failure = EmbeddingFailed(f"encoding {len(batch)} texts failed: {error}")
            failure.__cause__ = error
            request.vector.set_exception(failure)


def _cache_key(text: str, kind: TextKind) -> _CacheKey:
    return kind, hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
