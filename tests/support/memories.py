"""Memories to move about: their rounds, another encoder, what they hold, and how far a move is."""

import asyncio
import os
import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from memory_store import MemoryStore, Query, Round
from memory_store.embedding import (
    Embedder,
    EncoderIdentity,
    HashEncoder,
    TextKind,
)
from memory_store.engines import EdgeEngine, Engine, OperatorEngine
from memory_store.transfer import exported

MAY = datetime(2023, 5, 1, tzinfo=UTC)
_STARTS = "I|My sister|We|By the way, I|Our neighbour|My boss".split("|")
_VERBS = "bought|lost|repaired|painted|sold|borrowed|found|ordered|praised".split("|")
_THINGS = "a bicycle|two lamps|the garden fence|a cello|some oats|a tent|a map|the oven".split("|")
_WHEN = "yesterday|last Tuesday|in March|two weeks ago|this morning|in Ghent|with Miso".split("|")
_PART = 1 << 16
_ZEROS = bytes(_PART)


class WideEncoder(HashEncoder):
    """Another vector space: twice as many dimensions."""

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity("wide", 2 * HashEncoder().identity.dimension)

    def encode(self, texts: Sequence[str], kind: TextKind) -> np.ndarray:
        rows = super().encode(texts, kind)
        return np.hstack([rows, rows[:, ::-1]]) / np.float32(2**0.5)


@dataclass
class Steps:
    """Keeps the steps of a transfer, and the rounds each dealt with."""

    seen: list[tuple[str, int]] = field(default_factory=list)

    def begin(self, step: str, rounds: int) -> None:
        self.seen.append((step, 0))

    def advance(self, rounds: int) -> None:
        step, done = self.seen[-1]
        self.seen[-1] = (step, done + rounds)


def made_up(count: int, *, users: int = 3, seed: int = 0) -> list[Round]:
    """Rounds of several users, all different, some without an answer, one blank."""
    numbers = random.Random(seed)
    return [_round(numbers, number, users) for number in range(count)]


def _round(numbers: random.Random, number: int, users: int) -> Round:
    said = " ".join(_sentence(numbers, number) for _ in range(numbers.randint(1, 2)))
    return Round(
        user_id=f"user-{number % users}",
        session_id=f"s{number // 40}",
        round_index=number,
        session_date=MAY + timedelta(hours=3 * number),
        user_text="" if number == 7 else said,
        assistant_text="" if number % 7 == 0 else numbers.choice(["Noted.", "Schön — 好!", said]),
        user_name="Ann" if number % 5 == 0 else None,
        turn_ids=(f"t{number}",) if number % 3 == 0 else (),
    )


def _sentence(numbers: random.Random, number: int) -> str:
    parts = (_STARTS, _VERBS, _THINGS, _WHEN)
    return f"{' '.join(numbers.choice(part) for part in parts)}, number {number}."


def a_store(engine: Engine, encoder: HashEncoder | None = None) -> MemoryStore:
    return MemoryStore(engine, Embedder(encoder or HashEncoder(), cached_texts=0))


async def remember(
    engine: Engine, rounds: Sequence[Round], encoder: HashEncoder | None = None
) -> None:
    """Write rounds as an assistant does, which then stops."""
    store = a_store(engine, encoder)
    await store.open()
    for start in range(0, len(rounds), 256):
        await store.remember(rounds[start : start + 256])
    await store.close()


def copied(memory: Path, to: Path) -> Path:
    """A copy of a memory's folder, with holes for zeros: most of its files is reserved room."""
    shutil.copytree(memory, to, copy_function=_copy_with_holes)
    return to


def _copy_with_holes(source: str, target: str) -> None:
    with open(source, "rb") as reading, open(target, "wb") as writing:
        for begin, end in parts_with_data(Path(source)):
            for at in range(begin, end, _PART):
                part = os.pread(reading.fileno(), min(_PART, end - at), at)
                if not _ZEROS.startswith(part):
                    os.pwrite(writing.fileno(), part, at)
        writing.truncate(os.fstat(reading.fileno()).st_size)


def parts_with_data(file: Path) -> Sequence[tuple[int, int]]:
    """Where a file is no hole."""
    parts, at = list[tuple[int, int]](), 0
    with file.open("rb") as opened:
        while at < file.stat().st_size:
            try:
                begin = os.lseek(opened.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            at = os.lseek(opened.fileno(), begin, os.SEEK_HOLE)
            parts.append((begin, at))
    return parts


@contextmanager
def in_use(data_dir: Path) -> Iterator[None]:
    """An assistant has the memory open: its lock does not tell processes from engines."""
    store = a_store(EdgeEngine(data_dir))
    asyncio.run(store.open())
    yield
    asyncio.run(store.close())


async def held(memory: OperatorEngine) -> list[str]:
    """All that a memory holds: its export."""
    await memory.open_existing()
    lines = [line async for line in exported(memory)]
    await memory.close()
    return lines


async def answers(
    engine: Engine, questions: Sequence[tuple[str, str]], encoder: HashEncoder | None = None
) -> list[list[str]]:
    """The ids of the ten best rounds for each (user, text)."""
    store = a_store(engine, encoder)
    await store.open()
    found = [await store.recall(Query(user, text, limit=10)) for user, text in questions]
    await store.close()
    return [[hit.record.id for hit in recall.rounds] for recall in found]


def questions(count: int, *, users: int = 3, seed: int = 1) -> list[tuple[str, str]]:
    numbers = random.Random(seed)
    return [(f"user-{n % users}", f"{_sentence(numbers, n)[:-1]}?") for n in range(count)]
