"""The cost of acknowledging a round only when it is on the disk: `durability` sync against os.

Two assistants that differ in nothing else each have a folder of their own. Eight writers record
rounds over HTTP, a few with one assistant and then as many with the other. The result depends on
the disk: TMPDIR says where the folders lie.
"""

import asyncio
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles

import httpx

from benchmarks.load.assistant import serving
from benchmarks.measured import Measured
from benchmarks.texts import messages, replies
from memory_store.engines import Durability

_WRITERS = 8
_IN_TURN = 5
_EMBEDDERS = {"the packaged encoder": "all-MiniLM-L6-v2", "no encoder (hash)": "hash"}


async def measure(rounds_each: int = 60) -> list[Measured]:
    """The median milliseconds of a recorded round in both modes, with and without the encoder."""
    return [await _compared(name, embedder, rounds_each) for name, embedder in _EMBEDDERS.items()]


async def _compared(name: str, embedder: str, rounds_each: int) -> Measured:
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        bases = {
            mode: _base(opened, folder / mode, embedder=embedder, durability=mode.value)
            for mode in Durability
        }
        taken: dict[Durability, list[float]] = {mode: [] for mode in Durability}
        for start in range(0, rounds_each, _IN_TURN):
            for mode, base in bases.items():
                numbers = range(start, start + _IN_TURN)
                rows = await asyncio.gather(
                    *(_record(base, writer, numbers) for writer in range(_WRITERS))
                )
                # The first turn only warms both assistants up.
                taken[mode] += [ms for row in rows for ms in row] if start else []
    sync, os = taken[Durability.SYNC], taken[Durability.OS]
    return Measured(
        f"a round recorded by {_WRITERS} writers, {name}: p50",
        "ms",
        median(sync),
        median(os),
        "without syncing",
        more_is_better=False,
        details={
            "times as long": median(sync) / median(os),
            "p95": quantiles(sync, n=20)[-1],
            "p95 without": quantiles(os, n=20)[-1],
        },
    )


def _base(opened: ExitStack, folder: Path, **settings: str) -> str:
    port, _ = opened.enter_context(serving(folder, **settings))
    return f"http://127.0.0.1:{port}"


async def _record(base: str, writer: int, numbers: range) -> list[float]:
    """Milliseconds of each round that one writer records."""
    said, answers = messages(1000, seed=writer), replies(1000)
    taken = []
    async with httpx.AsyncClient(base_url=base, timeout=60) as http:
        for number in numbers:
            turns = [
                {"role": "user", "content": f"{said[number]} That was {writer}-{number}."},
                {"role": "assistant", "content": answers[number]},
            ]
            body = {"user_id": f"writer-{writer}", "messages": turns}
            started = time.perf_counter()
            (
                await http.post(f"/v1/sessions/s{number // 10}/messages", json=body)
            ).raise_for_status()
            taken.append((time.perf_counter() - started) * 1000)
    return taken
