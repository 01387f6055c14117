"""Embedded memories as a crash or a bad disk leaves them."""

import asyncio
import os
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memories import copied, parts_with_data

from memory_store import MemoryStore, Round
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import EdgeEngine

MAY = datetime(2023, 5, 1, tzinfo=UTC)


def a_store(folder: Path) -> MemoryStore:
    return MemoryStore(EdgeEngine(folder), Embedder(HashEncoder()))


def told(count: int, users: int = 2) -> list[Round]:
    """Rounds of several users, three in a session, some of which replace earlier ones."""
    cities = ("Ghent", "Oslo", "Bruges", "Turin")
    return [
        Round(
            f"user {number % users}",
            f"session {number // (3 * users)}",
            number // users % 3,
            MAY + timedelta(hours=number),
            f"I counted {number} pears. I live in {cities[number % 4]} now.",
            f"That is {number}." + " Fine." * (number % 40),
            turn_ids=(f"turn {number}",),
        )
        for number in range(count)
    ]


def written(folder: Path, rounds: Sequence[Round]) -> Path:
    """A folder with a memory of these rounds, which is closed."""

    async def write() -> None:
        store = a_store(folder)
        await store.open()
        await store.remember(rounds)
        await store.close()

    asyncio.run(write())
    return folder


async def held(folder: Path) -> list[Round]:
    """All rounds of a memory, in order; it is closed again."""
    store = a_store(folder)
    await store.open()
    try:
        return await all_rounds(store)
    finally:
        await store.close()


async def all_rounds(store: MemoryStore) -> list[Round]:
    records = [record for user in await store.users() for record in await store.records(user)]
    return sorted((one.round for one in records), key=lambda round: round.session_date)


def crashed(folder: Path, copy: Path) -> Path:
    """The files of an open memory as they would be found if its process ended now."""
    return copied(folder, copy)


def flip(file: Path, text: bytes) -> None:
    """Change one bit in each place where the file holds this text."""
    content = file.read_bytes()
    assert text in content
    other = bytes([text[0] ^ 1]) + text[1:]
    file.write_bytes(content.replace(text, other))


def files_with(folder: Path, text: str) -> list[Path]:
    """The files in which a text stands, as it is or packed next to other text."""
    return [f for f in folder.rglob("*") if f.is_file() and text.encode() in f.read_bytes()]


def harm(folder: Path, chance: random.Random) -> str:
    """Flip a bit of some file of a folder, or cut it short; what was done."""
    files = sorted(f for f in folder.rglob("*") if f.is_file() and f.stat().st_size)
    file = chance.choice(files)
    size = file.stat().st_size
    if chance.random() < 0.3:
        left = chance.choice([0, chance.randrange(size), size - 1])
        os.truncate(file, left)
        return f"{file.relative_to(folder)} cut from {size} to {left} bytes"
    # Most of a memory's files is reserved room, where a flipped bit harms nobody.
    begin, end = chance.choice(parts_with_data(file) or [(0, size)])
    at = chance.randrange(begin, min(end, size, begin + chance.choice([256, 4096, size])))
    with file.open("r+b") as opened:
        opened.seek(at)
        byte = opened.read(1)[0]
        opened.seek(at)
        opened.write(bytes([byte ^ (1 << chance.randrange(8))]))
    return f"a bit of {file.relative_to(folder)} at {at}"
