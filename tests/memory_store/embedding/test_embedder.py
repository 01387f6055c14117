"""The embedder: batches across callers, encodes equal texts once, tells everyone of a failure."""

import asyncio
import queue
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memory_store.embedding import (
    DiskCache,
    Embedder,
    EncoderIdentity,
    TextKind,
)
from memory_store.embedding.encoder import Matrix
from memory_store.errors import EmbeddingFailed
from memory_store.scheduler import new_job

DOCUMENT = TextKind.DOCUMENT


class GatedEncoder:
    """Encodes a text as its length, once the gate is open; remembers its batches."""

    identity = EncoderIdentity("gated", 2)
    path = "gated"

    def __init__(self) -> None:
        self.gate, self.reached = threading.Event(), threading.Event()
        self.gate.set()
        self.batches: list[list[str]] = []

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        self.reached.set()
        assert self.gate.wait(5)
        self.batches.append(list(texts))
        if "poison" in texts:
            raise ValueError("poisoned")
        return np.array([[len(text), kind is TextKind.QUERY] for text in texts], np.float32)


async def queued() -> None:
    """Let every task that was started come as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_rows_come_in_the_order_asked() -> None:
    embedder = Embedder(GatedEncoder())
    rows = await embedder.embed(["ccc", "a", "bb"], DOCUMENT)
    assert rows[:, 0].tolist() == [3, 1, 2]
    await embedder.close()


async def test_no_texts_are_no_rows() -> None:
    embedder = Embedder(GatedEncoder())
    assert (await embedder.embed([], DOCUMENT)).shape == (0, 2)
    await embedder.close()


async def test_equal_texts_are_encoded_once() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder)
    await asyncio.gather(embedder.embed(["a", "a"], DOCUMENT), embedder.embed(["a"], DOCUMENT))
    await embedder.embed(["a"], DOCUMENT)
    assert encoder.batches == [["a"]]
    assert (embedder.stats.texts, embedder.stats.encoded) == (4, 1)
    await embedder.close()


async def test_a_query_and_a_document_of_the_same_text_differ() -> None:
    embedder = Embedder(GatedEncoder())
    query = await embedder.embed(["a"], TextKind.QUERY)
    document = await embedder.embed(["a"], DOCUMENT)
    assert query[0, 1] == 1.0
    assert document[0, 1] == 0.0
    await embedder.close()


async def test_the_cache_forgets_what_was_used_longest_ago() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder, cached_texts=2)
    for text in ("a", "bb", "a", "ccc", "a", "bb"):
        await embedder.embed([text], DOCUMENT)
    assert encoder.batches == [["a"], ["bb"], ["ccc"], ["bb"]]
    await embedder.close()


async def test_what_is_forgotten_while_it_is_encoded_is_not_kept(tmp_path: Path) -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder, disk_cache=DiskCache(tmp_path / "v.sqlite", max_bytes=1_000_000))
    encoder.gate.clear()
    waiting = asyncio.create_task(embedder.embed(["a", "bb"], DOCUMENT))
    assert await asyncio.to_thread(encoder.reached.wait, 5)
    await embedder.forget(["a"])
    encoder.gate.set()
    await waiting
    await embedder.embed(["a"], DOCUMENT)
    assert [text for batch in encoder.batches for text in batch].count("a") == 2
    await embedder.close()


async def test_what_is_forgotten_while_it_comes_from_the_disk_is_not_kept(tmp_path: Path) -> None:
    encoder = GatedEncoder()
    before, after = (
        Embedder(encoder, disk_cache=DiskCache(tmp_path / "v.sqlite", max_bytes=1_000_000))
        for _ in range(2)
    )
    await before.embed(["a"], DOCUMENT)
    await before.close()
    reading = asyncio.create_task(after.embed(["a"], DOCUMENT))
    await asyncio.sleep(0)
    await after.forget(["a"])
    await reading
    assert after.stats.from_disk == 1
    await after.embed(["a"], DOCUMENT)
    assert encoder.batches == [["a"], ["a"]]
    await after.close()


async def test_what_waits_is_batched_by_length() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder, batch_size=2)
    encoder.gate.clear()
    waiting = [asyncio.create_task(embedder.embed(["first"], DOCUMENT))]
    await queued()
    waiting += [
        asyncio.create_task(embedder.embed([text], DOCUMENT))
        for text in ("x" * 100, "y", "z" * 99, "w")
    ]
    await queued()
    encoder.gate.set()
    await asyncio.gather(*waiting)
    assert encoder.batches[1:] == [["x" * 100, "z" * 99], ["y", "w"]]
    await embedder.close()


async def test_long_texts_make_smaller_batches() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder)
    await embedder.embed([f"{number}" + "x" * 1999 for number in range(7)], DOCUMENT)
    assert [len(batch) for batch in encoder.batches] == [2, 2, 2, 1]
    await embedder.close()


async def test_texts_of_unlike_length_are_calls_of_their_own() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder)
    texts = ["m" * 300, "f" * 120, "g" * 90, "h" * 320]
    rows = await embedder.embed(texts, DOCUMENT)
    assert encoder.batches == [["m" * 300, "h" * 320], ["f" * 120, "g" * 90]]
    assert rows[:, 0].tolist() == [300, 120, 90, 320]
    await embedder.close()


class OneHeldEncoder(GatedEncoder):
    """Lets texts through that are short, whatever the gate."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        if max(map(len, texts)) < 10:
            self.batches.append(list(texts))
            return np.ones((len(texts), 2), np.float32)
        return super().encode(texts, kind)


async def test_a_question_does_not_wait_for_workers_that_are_busy_with_much() -> None:
    encoder = OneHeldEncoder()
    embedder = Embedder(encoder, workers=2)
    encoder.gate.clear()
    much = asyncio.create_task(embedder.embed(["x" * 1500 + str(n) for n in range(9)], DOCUMENT))
    await queued()
    async with asyncio.timeout(4):
        await embedder.embed(["when?"], TextKind.QUERY)
    assert encoder.batches == [["when?"]]
    encoder.gate.set()
    await much
    await embedder.close()


class SteppedEncoder(GatedEncoder):
    """Finishes one batch for each step that it is given; remembers what it has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = threading.Semaphore(0)
        self.begun: queue.SimpleQueue[str] = queue.SimpleQueue()

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        self.begun.put(texts[0])
        assert self.steps.acquire(timeout=30)
        return super().encode(texts, kind)

    async def next_begun(self) -> str:
        return await asyncio.to_thread(self.begun.get, timeout=30)


async def test_of_what_waits_few_texts_of_who_asks_for_little_come_first() -> None:
    encoder = SteppedEncoder()
    embedder = Embedder(encoder)
    long = [f"{n}" + "long" * 300 for n in range(4)]
    with new_job() as job:
        job.charge(1.0)
        waiting = [asyncio.create_task(embedder.embed([text], DOCUMENT)) for text in long]
        await queued()
    for text in ("when?", "where?"):
        with new_job():
            waiting.append(asyncio.create_task(embedder.embed([text], TextKind.QUERY)))
            await queued()
    assert {await encoder.next_begun(), await encoder.next_begun()} == {long[0], "when?"}
    encoder.steps.release()  # whichever of them is done
    assert await encoder.next_begun() == "where?"
    encoder.steps.release(100)
    await asyncio.gather(*waiting)
    await embedder.close()


async def test_many_texts_get_on_however_many_questions_come() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder, batch_size=1)
    encoder.gate.clear()
    with new_job() as job:
        job.charge(1.0)
        waiting = [asyncio.create_task(embedder.embed([f"{n} long"], DOCUMENT)) for n in range(3)]
        await queued()
    # So many that it does not matter how the system shares its time between the two threads.
    for number in range(2_000):
        with new_job():
            question = embedder.embed([f"{number}?"], TextKind.QUERY)
            waiting.append(asyncio.create_task(question))
    await queued()
    encoder.gate.set()
    await asyncio.gather(*waiting)
    assert encoder.batches.index(["2 long"]) < 1_000
    await embedder.close()


async def test_a_text_asked_for_again_keeps_its_place() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder, batch_size=1)
    encoder.gate.clear()
    waiting = []
    for text in ("first", "second", "third", "second"):
        waiting.append(asyncio.create_task(embedder.embed([text], DOCUMENT)))
        await queued()
    encoder.gate.set()
    await asyncio.gather(*waiting)
    assert encoder.batches == [["first"], ["second"], ["third"]]
    await embedder.close()


async def test_workers_share_what_waits() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder, workers=2)
    await embedder.embed([f"{number:0200}" for number in range(8)], DOCUMENT)
    assert sorted(map(len, encoder.batches))[-1] <= 4
    await embedder.close()


async def test_a_few_short_texts_are_one_call() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder, workers=2)
    await embedder.embed(["What did I buy in May?", "I buy in May"], TextKind.QUERY)
    assert [len(batch) for batch in encoder.batches] == [2]
    await embedder.close()


@pytest.mark.parametrize("later", range(5))
async def test_a_text_that_comes_while_a_worker_leaves_is_not_left_lying(later: int) -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder)
    encoder.gate.clear()
    first = asyncio.create_task(embedder.embed(["first"], DOCUMENT))
    await queued()

    async def second() -> Matrix:
        for _ in range(later):
            await asyncio.sleep(0)
        return await embedder.embed(["second"], DOCUMENT)

    arriving = asyncio.create_task(second())
    encoder.gate.set()
    # Held up, the event loop finds the first text encoded in the turn in which the second comes.
    while not encoder.batches:
        time.sleep(0.001)
    time.sleep(0.01)
    rows = await asyncio.wait_for(asyncio.gather(first, arriving), 5)
    assert [row[0, 0] for row in rows] == [5, 6]
    await embedder.close()


async def test_a_failure_reaches_its_callers_and_no_other() -> None:
    embedder = Embedder(GatedEncoder(), batch_size=1)
    results = await asyncio.gather(
        embedder.embed(["poison"], DOCUMENT),
        embedder.embed(["fine"], DOCUMENT),
        return_exceptions=True,
    )
    assert isinstance(results[0], EmbeddingFailed)
    assert isinstance(results[1], np.ndarray)
    await embedder.close()


async def test_a_caller_that_goes_away_takes_no_text_from_another() -> None:
    encoder = GatedEncoder()
    embedder = Embedder(encoder)
    encoder.gate.clear()
    leaving = asyncio.create_task(embedder.embed(["shared"], DOCUMENT))
    staying = asyncio.create_task(embedder.embed(["shared"], DOCUMENT))
    await queued()
    leaving.cancel()
    encoder.gate.set()
    assert (await staying)[0, 0] == 6
    await embedder.close()


async def test_a_closed_embedder_refuses() -> None:
    embedder = Embedder(GatedEncoder())
    await embedder.close()
    with pytest.raises(EmbeddingFailed):
        await embedder.embed(["late"], DOCUMENT)
