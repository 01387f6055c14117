"""Several processes behind one address: one user's memory, whole whoever answers."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from calls import record, rounds
from commands import BIN
from qdrant_binary import Qdrant

TOLD = 40


@contextmanager
def crew(data_dir: Path, **settings: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """`assistant serve --workers 2`; its first line."""
    process = subprocess.Popen(
        [BIN / "assistant", "serve", "--workers", "2", "--port", "0", "--data-dir", data_dir],
        env=os.environ | {"ASSISTANT_EMBEDDER": "hash"} | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def test_an_embedded_memory_belongs_to_one(tmp_path: Path) -> None:
    with crew(tmp_path) as (process, line):
        assert (process.wait(60), line) == (2, "")
        assert process.stderr is not None
        assert "embedded memory belongs to one process" in process.stderr.read()


@pytest.mark.qdrant_server
def test_workers_end_with_who_looks_after_them(tmp_path: Path, own_qdrant: Qdrant) -> None:
    own_qdrant.start()
    with crew(tmp_path, **server_of(own_qdrant)) as (process, line):
        found = re.search(r"http://[\d.:]+", line)
        assert found
        assert httpx.get(f"{found[0]}/health").status_code == 200
        process.kill()
        deadline = time.monotonic() + 30
        while is_answered(found[0]):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def server_of(qdrant: Qdrant) -> dict[str, str]:
    """The settings of an assistant whose memory is on this server."""
    return {
        "ASSISTANT_QDRANT_URL": qdrant.url,
        "ASSISTANT_QDRANT__GRPC_PORT": str(qdrant.grpc_port),
    }


def is_answered(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.qdrant_server
def test_two_workers_serve_one_user_without_loss(tmp_path: Path, own_qdrant: Qdrant) -> None:
    own_qdrant.start()
    with crew(tmp_path, **server_of(own_qdrant)) as (process, line):
        assert "2 workers" in line
        found = re.search(r"http://[\d.:]+", line)
        assert found
        url = found[0]
        started: set[str] = set()

        def tell(number: int) -> None:
            # A connection for each request, so that either worker may take it.
            with httpx.Client(base_url=url, timeout=60) as http:
                at = f"2023-05-20T{10 + number // 60}:{number % 60:02}:00Z"
                record(http, "ann", "s", f"I saw bird {number}.", "Nice.", timestamp=at)
                text = http.get("/metrics").text
            started.update(re.findall(r"^process_start_time_seconds{pid=\"(\d+)\"}", text, re.M))

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(tell, range(TOLD)))
        assert len(started) == 2
        with httpx.Client(base_url=url, timeout=60) as http:
            kept = rounds(http, "ann", "s")
            metrics = http.get("/metrics").text
        # Whoever answers does so for both.
        assert re.findall(
            r"^assistant_request_seconds_count{.*/messages.* (\S+)", metrics, re.M
        ) == [f"{TOLD}.0"]
        assert sorted(kept) == sorted((f"I saw bird {n}.", "Nice.") for n in range(TOLD))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
