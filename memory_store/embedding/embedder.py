"""The embedder: an encoder off the event loop, with batching across callers and two caches.

A few worker threads share the encoder. While they are busy, texts wait (`waiting.py`), so batches
grow with the load, and a lone text never waits for others to fill a batch. A short job with few
texts, such as a question, is urgent: it goes before all others, and if every worker is busy, one
more thread takes it. Vectors of texts that were seen before come from memory, or from the disk if
there is a disk cache.
"""

import asyncio
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from memory_store._reach import Reach
from memory_store.embedding.cache import DiskCache, Vector, VectorCache
from memory_store.embedding.encoder import Encoder, EncoderIdentity, Matrix, TextKind
from memory_store.embedding.waiting import LONGEST_READ, Batch, Key, Waiting, WaitingText
from memory_store.errors import EmbeddingFailed
from memory_store.scheduler import current_job, in_slices

_Given = TypeVar("_Given")
_Result = TypeVar("_Result")
# How many texts of one call are looked up and encoded together.
_AT_ONCE = 256
# A part of the key of a vector on disk: a vector of less precision needs another key.
_PRECISION = "fp32"
# No encoder reads more characters of a text.
_LONGEST_TEXT = 32_768
BATCH_SIZE = 16
"""How many texts a core encodes well together."""
# A call with at most this many characters has few texts: one batch holds them.
_FEW_CHARACTERS = 2 * LONGEST_READ
# After this many urgent batches in a row one other batch is taken, so that none waits for ever.
_URGENT_IN_A_ROW = 8
# The nice value that puts encoding threads behind the event loop and the thread of urgent texts.
_NICENESS = 10


@dataclass(frozen=True, slots=True)
class EmbedderStats:
    """Counts of an embedder since it was made."""

    texts: int
    """How many texts were asked for."""
    from_disk: int
    """How many of them the disk cache had; another process may have put them there."""
    encoded: int
    """How many of them were encoded."""
    batches: int
    """How often the encoder was called."""


class Embedder:
    """Async front of an `Encoder`; equal texts are encoded once while a cache holds them.

    Closing it also closes the connection of the disk cache, whose file stays.
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        workers: int = 1,
        batch_size: int = BATCH_SIZE,
        cached_texts: int = 32_000,
        disk_cache: DiskCache | None = None,
        is_local: bool = True,
    ) -> None:
        """`is_local` says whether texts stay on this computer, or on others that the operator
        trusts as much."""
        self.is_local = is_local
        self._encoder = encoder
        self._workers = workers
        self._cache = VectorCache(cached_texts, encoder.identity.dimension)
        self._unfinished: dict[Key, WaitingText] = {}
        # Urgent texts have a queue of their own, as they go before others.
        self._waiting = {urgent: Waiting(workers, batch_size) for urgent in (True, False)}
        self._threads = ThreadPoolExecutor(workers, "encoder", _stand_back)
        self._urgent_thread = ThreadPoolExecutor(1, "encoder-urgent")
        self._disk_cache = disk_cache
        # The disk cache needs a single thread, and should not wait for those that encode.
        self._disk_thread = ThreadPoolExecutor(1, "disk-cache")
        self._disk_tasks = 0
        self._running: set[asyncio.Task[None]] = set()
        self._at_others = 0
        """How many workers encode texts that are not urgent."""
        self._urgent_in_a_row = 0
        self._urgent_thread_is_taken = False
        self._urgent: asyncio.Task[None] | None = None
        self._texts = self._from_disk = self._encoded = self._batches = 0
        self._forgets = 0
        self._closed = False

    def may_read(self, reach: Reach) -> bool:
        """Whether texts of this reach may be encoded."""
        return self.is_local or reach is Reach.ANYWHERE

    @property
    def identity(self) -> EncoderIdentity:
        """The encoder's vector space."""
        return self._encoder.identity

    @property
    def path(self) -> str:
        """The name of what computes the vectors."""
        return self._encoder.path

    @property
    def stats(self) -> EmbedderStats:
        """Counts of texts that were asked for, by where their vectors came from."""
        return EmbedderStats(self._texts, self._from_disk, self._encoded, self._batches)

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length per text, in order. Raises `EmbeddingFailed`."""
        self._texts += len(texts)
        parts = range(0, len(texts), _AT_ONCE)
        few = sum(min(len(text), LONGEST_READ) for text in texts) <= _FEW_CHARACTERS
        urgent = few and current_job().is_short
        rows = [await self._embed(texts[start : start + _AT_ONCE], kind, urgent) for start in parts]
        return np.concatenate(rows) if rows else np.empty((0, self.identity.dimension), np.float32)

    async def _embed(self, texts: Sequence[str], kind: TextKind, urgent: bool) -> Matrix:
        if self._closed:
            raise EmbeddingFailed("the embedder is closed")
        keys = [self._key(text, kind) for text in texts]
        if (known := self._cache.rows(keys)) is not None:
            return known
        # Encoding a few texts is faster than waiting for a busy disk, and few questions come again.
        skipped = urgent and (self._disk_tasks or kind is TextKind.QUERY)
        on_disk = {} if skipped else await self._read_disk(keys)
        vectors = [
            self._known_or_asked(key, WaitingText(text[:_LONGEST_TEXT], kind, urgent), on_disk)
            for key, text in zip(keys, texts, strict=True)
        ]
        # Shielded: one caller going away must not cancel a text for another.
        asked = [vector for vector in vectors if isinstance(vector, asyncio.Future)]
        await asyncio.gather(*map(asyncio.shield, asked))
        return np.stack([v.result() if isinstance(v, asyncio.Future) else v for v in vectors])

    async def forget(self, texts: Iterable[str]) -> None:
        """Drop the vectors of these texts, in memory and on disk."""
        # A text that is being read or encoded just now may be one of them. The changed count keeps
        # its vector out of the cache.
        self._forgets += 1
        keys: dict[Key, None] = {}
        async for text in in_slices(dict.fromkeys(texts)):
            for key in dict.fromkeys(self._key(text, kind) for kind in TextKind):
                self._cache.forget(key)
                keys[key] = None
        if self._disk_cache is not None:
            gone = list(keys)
            for start in range(0, len(gone), _AT_ONCE):  # so that nobody waits long for the disk
                await self._on_disk(self._disk_cache.forget, gone[start : start + _AT_ONCE])

    def forget_memory(self) -> None:
        """Drop all vectors in memory, because another process may have forgotten some of the texts.
        If it shares the disk cache, it has dropped them there itself."""
        self._forgets += 1
        self._cache.clear()

    async def forget_all(self) -> None:
        """Drop all vectors, in memory and on disk. This includes vectors of other encoders, which
        `forget` would never find, as their keys name another encoder."""
        self.forget_memory()
        if self._disk_cache is not None:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._disk_thread, self._disk_cache.clear)

    async def close(self) -> None:
        """Finish the texts that were asked for and stop the threads."""
        self._closed = True
        running = [*self._running, *filter(None, [self._urgent])]
        await asyncio.gather(*running, return_exceptions=True)
        self._threads.shutdown(wait=True)
        self._urgent_thread.shutdown(wait=True)
        if self._disk_cache is not None:
            self._disk_thread.submit(self._disk_cache.close)
        self._disk_thread.shutdown(wait=True)

    def _key(self, text: str, kind: TextKind) -> Key:
        space = self.identity
        kind = TextKind.DOCUMENT if space.kinds_alike else kind
        # A text may hold any character, even the separator, so it comes last.
        named = f"{space.name}\0{space.dimension}\0{_PRECISION}\0{kind}\0{text}"
        return hashlib.blake2b(named.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    async def _read_disk(self, keys: Sequence[Key]) -> Mapping[Key, Vector]:
        """Read from disk the vectors that are neither in memory nor being encoded, and keep them in
        memory too."""
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

    def _on_disk(
        self, call: Callable[[_Given], _Result], given: _Given
    ) -> "asyncio.Future[_Result]":
        done = asyncio.get_running_loop().run_in_executor(self._disk_thread, call, given)
        self._disk_tasks += 1
        done.add_done_callback(self._left_disk)
        return done

    def _left_disk(self, _: object) -> None:
        self._disk_tasks -= 1

    def _known_or_asked(
        self, key: Key, text: WaitingText, on_disk: Mapping[Key, Vector]
    ) -> "Vector | asyncio.Future[Vector]":
        """The vector, or a future for it if a worker must encode the text first."""
        known = on_disk.get(key)
        if known is None:
            known = self._cache.get(key)
        if known is not None:
            return known
        asked = self._unfinished.get(key)
        if asked is None:
            text.forgets = self._forgets
            self._unfinished[key] = asked = text
            self._wait(key, asked)
        elif (asked.owner != text.owner or asked.urgent < text.urgent) and self._waiting[
            asked.urgent
        ].take(key, asked):
            # The second caller need not wait for everything that the first one asked for before.
            asked.owner, asked.urgent = text.owner, asked.urgent or text.urgent
            self._wait(key, asked)
        return asked.vector

    def _wait(self, key: Key, text: WaitingText) -> None:
        self._waiting[text.urgent].add(key, text)
        # A worker without more work is done a little before its callback removes it from the set.
        if sum(not worker.done() for worker in self._running) < self._workers:
            worker = asyncio.create_task(self._encode())
            self._running.add(worker)
            worker.add_done_callback(self._running.discard)
        elif (
            text.urgent
            and self._at_others == self._workers
            and (self._urgent is None or self._urgent.done())
        ):
            self._urgent = asyncio.create_task(self._encode(only_urgent=True))

    async def _encode(self, *, only_urgent: bool = False) -> None:
        """Encode waiting texts, batch by batch, until none is left."""
        while waiting := self._next_waiting(only_urgent):
            batch = waiting.next_batch()
            texts = list(batch.values())
            try:
                with self._thread_for(urgent=texts[0].urgent) as thread:
                    vectors = await asyncio.get_running_loop().run_in_executor(
                        thread, self._encoder.encode, [one.text for one in texts], texts[0].kind
                    )
            except Exception as error:  # whatever it was, each waiting caller must hear of it
                self._fail(batch, error)
            else:
                self._deliver(batch, vectors)

    def _next_waiting(self, only_urgent: bool) -> Waiting | None:
        """The queue of the next batch, or None: the urgent one first, unless it had too many turns
        in a row."""
        urgent, others = self._waiting[True], self._waiting[False]
        if only_urgent:
            return urgent or None
        if urgent and not (others and self._urgent_in_a_row >= _URGENT_IN_A_ROW):
            self._urgent_in_a_row += 1
            return urgent
        self._urgent_in_a_row = 0
        return others or None

    @contextmanager
    def _thread_for(self, *, urgent: bool) -> Iterator[ThreadPoolExecutor]:
        """Give urgent texts their own thread if it is free, and other texts the worker threads."""
        if urgent and not self._urgent_thread_is_taken:
            self._urgent_thread_is_taken = True
            try:
                yield self._urgent_thread
            finally:
                self._urgent_thread_is_taken = False
            return
        self._at_others += not urgent
        try:
            yield self._threads
        finally:
            self._at_others -= not urgent

    def _deliver(self, batch: Batch, vectors: Matrix) -> None:
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
            self._on_disk(self._disk_cache.put, kept)

    def _fail(self, batch: Batch, error: Exception) -> None:
        for key, request in batch.items():
            del self._unfinished[key]
            failure = EmbeddingFailed(f"encoding {len(batch)} texts failed: {error}")
            failure.__cause__ = error
            request.vector.set_exception(failure)


def _stand_back() -> None:
    """Lower the priority of this thread, if the system has priorities of threads and allows it."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
