"""The embedder: an encoder off the event loop, with batching across callers and a cache.

One worker thread owns the encoder. While it encodes, requests queue; when it is free it takes all
that wait (up to a limit), so batches grow with the load and a lone request never waits for others.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memory_store.embedding.encoder import Encoder, EncoderIdentity, Matrix, TextKind
from memory_store.errors import EmbeddingFailed

Vector = npt.NDArray[np.float32]
_CacheKey = tuple[TextKind, bytes]


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
        self, encoder: Encoder, *, batch_size: int = 64, cached_texts: int = 50_000
    ) -> None:
        self._encoder = encoder
        self._batch_size = batch_size
        self._cached_texts = cached_texts
        self._cache: OrderedDict[_CacheKey, Vector] = OrderedDict()
        self._waiting: dict[_CacheKey, _Request] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="encoder")
        self._worker: asyncio.Task[None] | None = None
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
        """Finish the batch in work and stop the thread."""
        self._closed = True
        if self._worker is not None:
            await asyncio.gather(self._worker, return_exceptions=True)
        self._thread.shutdown(wait=True)

    async def _vector(self, text: str, kind: TextKind) -> Vector:
        key = _cache_key(text, kind)
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        if key not in self._waiting:
            future: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
            self._waiting[key] = _Request(text, kind, future)
            self._wake()
        # Shielded: one caller going away must not cancel the text for another.
        return await asyncio.shield(self._waiting[key].vector)

    def _wake(self) -> None:
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._encode_waiting())

    async def _encode_waiting(self) -> None:
        while self._waiting:
            batch = self._next_batch()
            try:
                vectors = await asyncio.get_running_loop().run_in_executor(
                    self._thread,
                    self._encoder.encode,
                    [request.text for request in batch.values()],
                    next(iter(batch.values())).kind,
                )
            except Exception as error:  # whatever it was, each waiting caller must hear of it
                self._fail(batch, error)
                continue
            self._deliver(batch, vectors)

    def _next_batch(self) -> dict[_CacheKey, _Request]:
        """The longest-waiting request and others of its kind, up to the batch size."""
        kind = next(iter(self._waiting.values())).kind
        keys = [key for key in self._waiting if key[0] is kind][: self._batch_size]
        return {key: self._waiting[key] for key in keys}

    def _deliver(self, batch: dict[_CacheKey, _Request], vectors: Matrix) -> None:
        self._encoded += len(batch)
        self._batches += 1
        for (key, request), vector in zip(batch.items(), vectors, strict=True):
            # Copied, so that a cached row does not keep its whole batch alive.
            self._cache[key] = vector.copy()
            del self._waiting[key]
            request.vector.set_result(self._cache[key])
        while len(self._cache) > self._cached_texts:
            self._cache.popitem(last=False)

    def _fail(self, batch: dict[_CacheKey, _Request], error: Exception) -> None:
        for key, request in batch.items():
            del self._waiting[key]
            failure = EmbeddingFailed(f"encoding {len(batch)} texts failed: {error}")
            failure.__cause__ = error
            request.vector.set_exception(failure)


def _cache_key(text: str, kind: TextKind) -> _CacheKey:
    return kind, hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
