"""The assistant as a process on a made-up memory, and the machine's resources that it takes."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.memories import Crowd
from benchmarks.texts import messages, questions, replies
from memory_store import MemoryStore, Query, Round
from memory_store.embedding import DiskCache, Embedder, Encoder
from memory_store.engines import EdgeEngine

SERVE = (sys.executable, "-c", "from assistant.cli import main; main()", "serve", "--port", "0")


_AT_ONCE = 64
_STATEMENTS = 2000
_CACHE_BYTES = 256 * 1024 * 1024
_START = datetime(2024, 1, 1, tzinfo=UTC)


async def filled(folder: Path, crowd: Crowd, encoder: Encoder) -> None:
    """Fill a folder with a crowd's memory, told round by round as an assistant is told."""
    cache = DiskCache(folder / "vectors.sqlite", max_bytes=_CACHE_BYTES)
    embedder = Embedder(encoder, workers=os.cpu_count() or 1, disk_cache=cache)
    store = MemoryStore(EdgeEngine(folder), embedder)
    await store.open()
    rounds = told(crowd)
    for start in range(0, len(rounds), _AT_ONCE):
        await store.remember(rounds[start : start + _AT_ONCE])
    await store.close()


def told(crowd: Crowd) -> list[Round]:
    """Rounds with a user's statement and a long reply each. Statements repeat, so that their
    vectors are soon in the cache; no two replies are alike."""
    said = messages(_STATEMENTS)
    places = crowd.places(range(crowd.rounds))
    return [
        Round(
            user,
            f"s{own // 10}",
            own % 10,
            _START + timedelta(hours=own // 10),
            said[n % _STATEMENTS],
            reply,
        )
        for n, ((user, own), reply) in enumerate(zip(places, replies(crowd.rounds), strict=True))
    ]


def questions_of(crowd: Crowd, count: int) -> list[Query]:
    """Make `count` questions, asked by the users of the crowd in turn."""
    return [
        Query(f"{crowd.prefix}{number % crowd.users}", question)
        for number, question in enumerate(questions(count))
    ]


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[tuple[int, int]]:
    """The port and the process id of an assistant on this folder; it ends with the context."""
    given = {f"ASSISTANT_{name.upper()}": value for name, value in settings.items()}
    command = [*SERVE, "--data-dir", str(folder)]
    with printing(command, given) as (line, process_id):
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found is None:
            raise RuntimeError(f"the assistant did not start: {line!r}")
        yield int(found[1]), process_id


@contextmanager
def printing(command: list[str], environment: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The first line that a program prints, and its process id; it ends with the context."""
    with subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline(), process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def resident_mb(process_id: int) -> float:
    """The resident memory of a process in MB, mapped files included."""
    status = Path(f"/proc/{process_id}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else 0.0


def processor_seconds(process_id: int) -> float:
    """Processor time that a process has used so far, of all its threads."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def all_threads_seconds(process_id: int) -> float:
    """Processor time of a process as the scheduler counts it, which is finer, but only of the
    threads that are alive now."""
    threads = Path(f"/proc/{process_id}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9
