"""The power goes at random moments of an ingest over HTTP: what was acknowledged is there.

POWER_CUTS=100 tries as many; five by default.
"""

import asyncio
import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL

import httpx
import pytest
from commands import Server
from damaged import held
from power_cuts import Disk, a_disk, missing
from qdrant_binary import Qdrant, binary, running

from memory_store import MemoryStore
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import ServerEngine
from memory_store.errors import StoreDamaged

CUTS = int(os.environ.get("POWER_CUTS", "5"))
WRITERS = 8

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "none")]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with a_disk(tmp_path) as disk:
        yield disk


class Writers:
    """Each records one exchange after another, and notes those that were acknowledged."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._over = threading.Event()
        self.acknowledged: list[str] = []
        self._threads = [
            threading.Thread(target=self._write, args=(number,)) for number in range(WRITERS)
        ]

    def __enter__(self) -> "Writers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _write(self, writer: int) -> None:
        path = f"{self._server.url}/v1/sessions/s{writer}/messages"
        with httpx.Client(timeout=30) as http:
            number = 0
            while not self._over.is_set():
                said = f"Writer {writer} counted to {number}. I live in Ghent now."
                body = {"user_id": f"u{writer}", "messages": [{"role": "user", "content": said}]}
                try:
                    answered = http.post(path, json=body).status_code == 200
                except httpx.HTTPError:
                    return
                if answered:
                    self.acknowledged.append(said)
                number += 1


@pytest.mark.parametrize("durability", ["sync", "os"])
def test_what_was_acknowledged_is_on_the_disk(disk: Disk, durability: str) -> None:
    """Without syncing some of it is lost, and the memory may say so: that is the control."""
    chance = random.Random(7)
    server = Server(disk.folder / "data")
    server.start(ASSISTANT_DURABILITY=durability)
    lost = acknowledged = 0
    try:
        with Writers(server) as writers:
            for _ in range(CUTS):
                time.sleep(chance.uniform(0.2, 1.5))
                known = list(writers.acknowledged)
                with disk.after_a_cut() as folder:
                    there = _texts(folder / "data")
                lost += len(set(known) - there)
                acknowledged += len(known)
    finally:
        server.end(SIGKILL)
    assert acknowledged > 0
    print(f"{durability}: {CUTS} power cuts, {lost} of {acknowledged} acknowledged rounds lost")
    assert (lost == 0) == (durability == "sync")


def _texts(data: Path) -> set[str]:
    """What users said, of a memory as a power cut left it; nothing where it says it is damaged."""
    try:
        return {round.user_text for round in asyncio.run(held(data))}
    except StoreDamaged:
        return set()


@pytest.mark.qdrant_server
@pytest.mark.skipif(binary() is None, reason="there is no Qdrant program")
def test_what_was_acknowledged_is_on_the_disk_of_a_qdrant_server(
    disk: Disk, tmp_path: Path
) -> None:
    chance, program = random.Random(8), binary()
    assert program is not None
    server = Server(tmp_path / "data")
    with running(Qdrant(program, disk.folder)) as live:
        where = {"ASSISTANT_QDRANT_URL": live.url, "ASSISTANT_QDRANT__GRPC_PORT": live.grpc_port}
        server.start(**{name: str(value) for name, value in where.items()})
        try:
            with Writers(server) as writers:
                for _ in range(CUTS):
                    time.sleep(chance.uniform(0.5, 2))
                    known = set(writers.acknowledged)
                    with disk.after_a_cut() as folder, running(Qdrant(program, folder)) as after:
                        assert known <= asyncio.run(_texts_on(after))
        finally:
            server.end(SIGKILL)
    print(f"Qdrant server: {CUTS} power cuts, 0 of the last {len(known)} acknowledged rounds lost")


async def _texts_on(qdrant: Qdrant) -> set[str]:
    engine = ServerEngine(qdrant.url, grpc_port=qdrant.grpc_port)
    store = MemoryStore(engine, Embedder(HashEncoder()))
    await store.open()
    records = [record for user in await store.users() for record in await store.records(user)]
    await store.close()
    return {record.round.user_text for record in records}
