"""How much longer another user waits while hostile and large requests are under way, and
how the time of a request grows with its text.

The other user's requests come by the clock; their waits are compared with those in a quiet stretch
of the same run.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.fairness.probe import USER
from benchmarks.fairness.requests import (
    PATCHED,
    Done,
    Growing,
    NamedRequest,
    ask,
    growing,
    hostile,
    large,
)
from benchmarks.load.assistant import filled, serving
from benchmarks.measured import Measured
from benchmarks.memories import Crowd, Memories
from memory_store import MemoryStore
from memory_store.embedding import (
    PACKAGED,
    Embedder,
    HashEncoder,
    ModelEncoder,
)
from memory_store.engines import EdgeEngine

_ROUNDS = 50_000
_ALLOWED_MS, _ALLOWED_GROWTH = 250.0, 2.2
_QUIET_SECONDS = 15.0
_LONGEST = 1800.0
ARCHIVE, LEAVING = "archive0", "leaving0"


async def measure(
    rounds: int = _ROUNDS,
    *,
    embedder: str = PACKAGED,
    quiet: float = _QUIET_SECONDS,
    flood: Sequence[NamedRequest] | None = None,
    texts: Sequence[Growing] | None = None,
) -> list[Measured]:
    """The longest added wait of each kind of request, and the fastest growth of any text."""
    with tempfile.TemporaryDirectory() as folder:
        await _fill(Path(folder), rounds, embedder)
        asked = [*hostile(), *large(ARCHIVE, LEAVING)] if flood is None else flood
        with serving(Path(folder), embedder=embedder) as (port, _):
            growth = await _growths(port, growing() if texts is None else texts)
            async with _probing(port) as waits:
                await asyncio.sleep(quiet)
                before = waits.taken()
                done = await _all_at_once(port, asked)
                await asyncio.sleep(1.0)
            during = waits.taken()
    _print(done)
    return [*_added(before, during, done), _fastest(growth)]


async def _fill(folder: Path, rounds: int, embedder: str) -> None:
    """A short memory of the user who asks for little, and two long ones."""
    encoder = HashEncoder() if embedder == "hash" else ModelEncoder(embedder)
    await filled(folder, Crowd(200, 1, USER[:-1]), encoder)
    engine, memories = EdgeEngine(folder), Memories()
    store = MemoryStore(engine, Embedder(encoder))
    await store.open()
    await store.remember([PATCHED])
    for name in (ARCHIVE, LEAVING):
        for points in memories.points(Crowd(rounds, 1, name[:-1])):
            await engine.upsert(points)
    await store.close()


async def _all_at_once(port: int, asked: Sequence[NamedRequest]) -> list[Done]:
    return await asyncio.gather(*(ask(port, one, within=_LONGEST) for one in asked))


async def _growths(port: int, texts: Sequence[Growing]) -> list[tuple[Growing, float, float]]:
    """Seconds of half of each text and of all of it, nothing else being asked."""
    found = []
    for text in texts:
        half = await _fastest_of(port, text, 0.5)
        whole = await _fastest_of(port, text, 1.0)
        found.append((text, half, whole))
    return found


async def _fastest_of(port: int, text: Growing, share: float, tries: int = 2) -> float:
    taken = []
    for number in range(tries):
        # The length differs each time, so that no cache knows the text.
        asked = text.request(share * (1 - 0.001 * number))
        taken.append((await ask(port, asked)).seconds)
    return min(taken)


@dataclass(slots=True)
class _Waits:
    """The other user's waits in milliseconds, by request, and the number of failures."""

    ms: dict[str, list[float]] = field(default_factory=dict)
    failed: int = 0

    def add(self, line: bytes) -> None:
        """Add one line that the probing process printed."""
        name, status, seconds = json.loads(line)
        self.ms.setdefault(name, []).append(seconds * 1000)
        self.failed += status != 200

    def taken(self) -> "_Waits":
        """Return the waits so far, and begin anew."""
        taken = _Waits(self.ms, self.failed)
        self.ms, self.failed = {}, 0
        return taken


@asynccontextmanager
async def _probing(port: int) -> AsyncIterator[_Waits]:
    """Run another process that asks for little; it ends with the context, once all is answered."""
    command = (sys.executable, "-m", "benchmarks.fairness.probe", str(port), str(_LONGEST))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    waits = _Waits()
    # The first requests are left out, since they find nothing in any cache.
    for _ in range(40):
        await process.stdout.readline()

    async def read(lines: asyncio.StreamReader) -> None:
        while line := await lines.readline():
            waits.add(line)

    reading = asyncio.create_task(read(process.stdout))
    try:
        yield waits
    finally:
        process.stdin.close()
        await reading
        await process.wait()


def _added(before: _Waits, during: _Waits, done: Sequence[Done]) -> list[Measured]:
    results = []
    for name in sorted(before.ms):
        quiet, flooded = before.ms[name], during.ms[name]
        usual = float(np.median(quiet))
        added = {f"added_p{p}": float(np.percentile(flooded, p)) - usual for p in (50, 95, 99)}
        details = {
            "quiet_p50": usual,
            "quiet_longest": max(quiet),
            **added,
            "asked": len(flooded),
            "failed": during.failed,
            "flood_seconds": max(one.seconds for one in done),
            "unanswered": sum(not one.status for one in done),
            "server_errors": sum(one.status >= 500 for one in done),
        }
        what = f"longest added wait of another's {name}"
        longest = max(flooded) - usual
        results.append(Measured(what, "ms", longest, _ALLOWED_MS, "allowed", False, details))
    return results


def _fastest(growth: Sequence[tuple[Growing, float, float]]) -> Measured:
    ratios = {
        f"{text.kind} {text.text.strip()[:20]!r}": whole / half for text, half, whole in growth
    }
    what = "time when a text doubles"
    most = max(ratios.values(), default=0.0)
    return Measured(what, "times", most, _ALLOWED_GROWTH, "allowed", False, ratios)


def _print(done: Sequence[Done]) -> None:
    table = Table("request", "status", "seconds", "MB", title="under way at once")
    for one in sorted(done, key=lambda one: one.seconds):
        table.add_row(one.name, str(one.status), f"{one.seconds:.1f}", f"{one.bytes / 1e6:.1f}")
    Console().print(table)
