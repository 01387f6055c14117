"""The embedder: an encoder off the event loop, with batching across callers and two caches.

A few worker threads share the encoder. While they are busy, requests queue; a worker that is free
takes the oldest one and others of about its length, so batches grow with the load, little is
wasted on padding, and a lone request never waits for company. Vectors of texts that were seen
before come from memory, or from the disk where there is a disk cache.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from memory_store.embedding.cache import Vector, VectorCache
from memory_store.embedding.disk_cache import DiskCache
from memory_store.embedding.encoder import Encoder, EncoderIdentity, Matrix, TextKind
from memory_store.errors import EmbeddingFailed

# Digest of the vector space, how the encoder computes, the kind and the text.
_CacheKey = bytes
# How far a worker looks down the queue for texts of like length.
_WINDOW = 64
# A batch is as wide as its longest text. Beyond this much it is no faster, only larger in memory.
_PADDED_CHARACTERS = 6000
# So few are not shared among workers: an encoder reads all its weights in every call, which takes
# longer than what they are applied to.
_WORTH_A_CALL = 400


@dataclass(frozen=True, slots=True)
class EmbedderStats:
    """What the embedder did since it was made."""

    texts: int
    """Asked for."""
    from_disk: int
    """Found in the disk cache; another process may have put them there."""
    encoded: int
    """Really encoded."""
    batches: int
    """Calls of the encoder."""


@dataclass(slots=True)
class _Request:
    text: str
    kind: TextKind
    forgets: int
    """How often texts were forgotten before."""
    vector: "asyncio.Future[Vector]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Embedder:
    """Async front of an `Encoder`; equal texts are encoded once while a cache holds them.

    It closes the disk cache, which outlives it, when it is closed.
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        workers: int = 1,
        batch_size: int = 16,
        cached_texts: int = 32_000,
        disk_cache: DiskCache | None = None,
    ) -> None:
        self._encoder = encoder
        self._workers = workers
        self._batch_size = batch_size
        self._cache = VectorCache(cached_texts, encoder.identity.dimension)
        self._unfinished: dict[_CacheKey, _Request] = {}
        self._queue: dict[_CacheKey, _Request] = {}
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="encoder")
        self._disk_cache = disk_cache
        # One thread, which is what the disk cache wants, and apart from those busy encoding.
        self._disk_thread = ThreadPoolExecutor(1, thread_name_prefix="disk-cache")
        self._running: set[asyncio.Task[None]] = set()
        self._texts = self._from_disk = self._encoded = self._batches = 0
        self._forgets = 0
        self._closed = False

    @property
    def identity(self) -> EncoderIdentity:
        """The encoder's vector space."""
        return self._encoder.identity

    @property
    def path(self) -> str:
        """How the encoder computes its vectors."""
        return self._encoder.path

    @property
    def stats(self) -> EmbedderStats:
        """What was asked for, and where it came from."""
        return EmbedderStats(self._texts, self._from_disk, self._encoded, self._batches)

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length a text, in order. Raises `EmbeddingFailed`."""
        if self._closed:
            raise EmbeddingFailed("the embedder is closed")
        self._texts += len(texts)
        keys = [self._key(text, kind) for text in texts]
        on_disk = await self._read_disk(keys)
        vectors = [
            self._known_or_asked(key, text, kind, on_disk)
            for key, text in zip(keys, texts, strict=True)
        ]
        # Shielded: one caller going away must not cancel a text for another.
        asked = [vector for vector in vectors if isinstance(vector, asyncio.Future)]
        await asyncio.gather(*map(asyncio.shield, asked))
        rows = [one.result() if isinstance(one, asyncio.Future) else one for one in vectors]
        return np.stack(rows) if rows else np.empty((0, self.identity.dimension), np.float32)

    async def forget(self, texts: Iterable[str]) -> None:
        """Let go of the vectors of these texts, in memory and on disk. Asked for again, they are
        encoded again."""
        keys = [self._key(text, kind) for text in dict.fromkeys(texts) for kind in TextKind]
        # What is being read or encoded just now may be one of them, and is not kept.
        self._forgets += 1
        for key in keys:
            self._cache.forget(key)
        if self._disk_cache is not None and keys:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._disk_thread, self._disk_cache.forget, keys)

    async def close(self) -> None:
        """Finish the texts that were asked for and stop the threads."""
        self._closed = True
        await asyncio.gather(*self._running, return_exceptions=True)
        self._threads.shutdown(wait=True)
        if self._disk_cache is not None:
            self._disk_thread.submit(self._disk_cache.close)
        self._disk_thread.shutdown(wait=True)

    def _key(self, text: str, kind: TextKind) -> _CacheKey:
        space = self.identity
        kind = TextKind.DOCUMENT if space.kinds_alike else kind
        # A text may hold any character, the separator too: it comes last.
        named = f"{space.name}\0{space.dimension}\0{self.path}\0{kind}\0{text}"
        return hashlib.blake2b(named.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    async def _read_disk(self, keys: Sequence[_CacheKey]) -> Mapping[_CacheKey, Vector]:
        """Vectors on disk of texts that are not in memory, or about to be; kept in memory too."""
        missing = [k for k in keys if k not in self._cache and k not in self._unfinished]
        if self._disk_cache is None or not missing:
            return {}
        loop, forgets = asyncio.get_running_loop(), self._forgets
        found = await loop.run_in_executor(self._disk_thread, self._disk_cache.get, missing)
        if forgets == self._forgets:
            for key, vector in found.items():
                self._cache.put(key, vector)
        self._from_disk += len(found)
        return found

    def _known_or_asked(
        self, key: _CacheKey, text: str, kind: TextKind, on_disk: Mapping[_CacheKey, Vector]
    ) -> "Vector | asyncio.Future[Vector]":
        """The vector, or where it will be once a worker has encoded the text."""
        known = on_disk.get(key)
        if known is None:
            known = self._cache.get(key)
        if known is not None:
            return known
        if key not in self._unfinished:
            self._unfinished[key] = self._queue[key] = _Request(text, kind, self._forgets)
            self._wake()
        return self._unfinished[key].vector

    def _wake(self) -> None:
        # A worker that has found nothing more is done a little before it leaves the set.
        if sum(not worker.done() for worker in self._running) < self._workers:
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
        for key, request in window[: self._batch_size]:
            longest = max(longest, len(request.text))
            enough = _PADDED_CHARACTERS if len(batch) < share else _WORTH_A_CALL
            if batch and longest * (len(batch) + 1) > enough:
                break
            batch[key] = self._queue.pop(key)
        return batch

    def _deliver(self, batch: dict[_CacheKey, _Request], vectors: Matrix) -> None:
        self._encoded += len(batch)
        self._batches += 1
        encoded = dict(zip(batch, vectors, strict=True))
        for key, vector in encoded.items():
            del self._unfinished[key]
            batch[key].vector.set_result(vector)
        kept = {key: v for key, v in encoded.items() if batch[key].forgets == self._forgets}
        for key, vector in kept.items():
            self._cache.put(key, vector)
        if self._disk_cache is not None:
            self._disk_thread.submit(self._disk_cache.put, kept)

    def _fail(self, batch: dict[_CacheKey, _Request], error: Exception) -> None:
        for key, request in batch.items():
            del self._unfinished[key]
            failure = EmbeddingFailed(f"encoding {len(batch)} texts failed: {error}")
            failure.__cause__ = error
            request.vector.set_exception(failure)
