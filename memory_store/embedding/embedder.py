"""The embedder: an encoder off the event loop, with batching across callers and two caches.

A few worker threads share the encoder. While they are busy, requests queue; a worker that is free
takes one and others of about its length, so batches grow with the load, little is wasted on
padding, and a lone request never waits for company. The one it takes is the oldest of the user who
has had the least encoded, so that many texts of one user do not delay a question of another's.
Vectors of texts that were seen before come from memory, or from the disk where there is a disk
cache.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from memory_store.embedding.cache import Vector, VectorCache
from memory_store.embedding.disk_cache import DiskCache
from memory_store.embedding.encoder import Encoder, EncoderIdentity, Matrix, TextKind
from memory_store.errors import EmbeddingFailed
from memory_store.shares import Shares
from memory_store.turns import current_job, in_slices

_Result = TypeVar("_Result")
# Digest of the vector space, how the encoder computes, the kind and the text.
_CacheKey = bytes
# How far a worker looks down the queues for texts of like length.
_WINDOW = 64
# Texts of one call that are looked for and asked for together.
_AT_ONCE = 256
# Characters by which a user may be ahead of others who have had more: an ordinary answer's.
_CREDIT = 12_000
# No encoder reads more characters of a text, and the packaged one not more than about the second.
_LONGEST_TEXT = 32_768
_READ = 1200
# A batch is as wide as its longest text. Beyond this much it is no faster, and everybody else waits
# until it is done.
_PADDED_CHARACTERS = 2 * _READ
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
    owner: str
    """Whose queue it waits in."""
    forgets: int
    """How often texts were forgotten before."""
    vector: "asyncio.Future[Vector]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def size(self) -> int:
        """Characters of it that are encoded."""
        return min(len(self.text), _READ)


_Queue = dict[_CacheKey, _Request]


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
        self._unfinished: _Queue = {}
        self._queues: dict[str, _Queue] = {}
        self._shares = Shares(_CREDIT)
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
        parts = range(0, len(texts), _AT_ONCE)
        rows = [await self._embed(texts[start : start + _AT_ONCE], kind) for start in parts]
        return np.concatenate(rows) if rows else np.empty((0, self.identity.dimension), np.float32)

    async def _embed(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        keys = [self._key(text, kind) for text in texts]
        on_disk = await self._read_disk(keys)
        vectors = [
            self._known_or_asked(key, text, kind, on_disk)
            for key, text in zip(keys, texts, strict=True)
        ]
        # Shielded: one caller going away must not cancel a text for another.
        asked = [vector for vector in vectors if isinstance(vector, asyncio.Future)]
        await asyncio.gather(*map(asyncio.shield, asked))
        return np.stack([v.result() if isinstance(v, asyncio.Future) else v for v in vectors])

    async def forget(self, texts: Iterable[str]) -> None:
        """Let go of the vectors of these texts, in memory and on disk. Asked for again, they are
        encoded again."""
        # What is being read or encoded just now may be one of them, and is not kept.
        self._forgets += 1
        keys: dict[_CacheKey, None] = {}
        async for text in in_slices(dict.fromkeys(texts)):
            for key in dict.fromkeys(self._key(text, kind) for kind in TextKind):
                self._cache.forget(key)
                keys[key] = None
        if self._disk_cache is not None:
            for some in _parts(list(keys)):
                await self._on_disk(self._disk_cache.forget, some)

    def forget_memory(self) -> None:
        """Let go of all vectors in memory: another process may have forgotten some of the texts,
        and told the disk itself where it shares ours."""
        self._forgets += 1
        self._cache.clear()

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
        forgets = self._forgets
        found = await self._on_disk(self._disk_cache.get, missing)
        if forgets == self._forgets:
            for key, vector in found.items():
                self._cache.put(key, vector)
        self._from_disk += len(found)
        return found

    async def _on_disk(
        self, call: Callable[[Sequence[_CacheKey]], _Result], keys: Sequence[_CacheKey]
    ) -> _Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._disk_thread, call, keys)

    def _known_or_asked(
        self, key: _CacheKey, text: str, kind: TextKind, on_disk: Mapping[_CacheKey, Vector]
    ) -> "Vector | asyncio.Future[Vector]":
        """The vector, or where it will be once a worker has encoded the text."""
        known = on_disk.get(key)
        if known is None:
            known = self._cache.get(key)
        if known is not None:
            return known
        owner = current_job().owner
        request = self._unfinished.get(key)
        if request is None:
            request = _Request(text[:_LONGEST_TEXT], kind, owner, self._forgets)
            self._unfinished[key] = request
            self._queues.setdefault(owner, {})[key] = request
            self._wake()
        elif owner != request.owner and key in self._queues.get(request.owner, {}):
            # Whoever asks for it, too, does not wait for all that the first one asked before.
            self._take(key, request)
            request.owner = owner
            self._queues.setdefault(owner, {})[key] = request
        return request.vector

    def _wake(self) -> None:
        # A worker that has found nothing more is done a little before it leaves the set.
        if sum(not worker.done() for worker in self._running) < self._workers:
            worker = asyncio.create_task(self._encode_queued())
            self._running.add(worker)
            worker.add_done_callback(self._running.discard)

    async def _encode_queued(self) -> None:
        while self._queues:
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

    def _next_batch(self) -> _Queue:
        """The request that is due and those nearest to it in length: a fair share of what waits."""
        heads = {owner: next(iter(queue.values())) for owner, queue in self._queues.items()}
        due = heads[self._shares.next_of({owner: head.size for owner, head in heads.items()})]
        window = self._window(due)
        window.sort(key=lambda item: abs(item[1].size - due.size))
        share = -(-len(window) // self._workers)
        batch: _Queue = {}
        longest = 0
        for key, request in window[: self._batch_size]:
            longest = max(longest, request.size)
            enough = _PADDED_CHARACTERS if len(batch) < share else _WORTH_A_CALL
            if batch and longest * (len(batch) + 1) > enough:
                break
            batch[key] = request
            self._take(key, request)
            self._shares.charge(request.owner, request.size)
        return batch

    def _window(self, due: _Request) -> list[tuple[_CacheKey, _Request]]:
        """What the due one may share a batch with, itself first: the oldest of each user."""
        own = self._queues[due.owner]
        queues = [own, *(queue for queue in self._queues.values() if queue is not own)]
        each = max(1, _WINDOW // len(queues))
        oldest = chain.from_iterable(islice(queue.items(), each) for queue in queues)
        return [item for item in islice(oldest, _WINDOW) if item[1].kind is due.kind]

    def _take(self, key: _CacheKey, request: _Request) -> None:
        """Take a request out of the queue that it waits in."""
        queue = self._queues[request.owner]
        del queue[key]
        if not queue:
            del self._queues[request.owner]

    def _deliver(self, batch: _Queue, vectors: Matrix) -> None:
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

    def _fail(self, batch: _Queue, error: Exception) -> None:
        for key, request in batch.items():
            del self._unfinished[key]
            failure = EmbeddingFailed(f"encoding {len(batch)} texts failed: {error}")
            failure.__cause__ = error
            request.vector.set_exception(failure)


def _parts(keys: Sequence[_CacheKey]) -> Iterator[Sequence[_CacheKey]]:
    """Some keys at a time, so that nobody waits long for the disk."""
    yield from (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))
