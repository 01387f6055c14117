"""Two processes that share a folder: each answers for both, and for what has ended."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from calls import record
from commands import Server
from prometheus_client.parser import text_string_to_metric_families

RECORDED = {"method": "POST", "route": "/v1/sessions/{session_id:path}/messages", "status": "200"}


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    both = (Server(tmp_path / "one", anew=True), Server(tmp_path / "two", anew=True))
    for server in both:
        server.start(PROMETHEUS_MULTIPROC_DIR=str(tmp_path / "metrics"))
    yield both
    for server in both:
        if server.running:
            server.end()


def values(server: Server, name: str, **labels: str) -> list[float]:
    text = httpx.get(f"{server.url}/metrics").text
    return [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]


def soon(server: Server, name: str, value: float) -> None:
    """What a process counts beside requests is told to the other within a second."""
    deadline = time.monotonic() + 20
    while (found := values(server, name)) != [value]:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def test_each_answers_for_both(servers: tuple[Server, Server], tmp_path: Path) -> None:
    one, two = servers
    for server, rounds in ((one, 3), (two, 2)):
        with httpx.Client(base_url=server.url, timeout=30) as http:
            for number in range(rounds):
                record(http, "ann", "s", f"I saw bird {number}.", "Nice.")
    for server in servers:
        assert values(server, "assistant_request_seconds_count", **RECORDED) == [5]
        soon(server, "assistant_rounds_stored_total", 5)
        # The one that asks how many are running is.
        soon(server, "assistant_requests_running", 1)
        assert len(values(server, "process_resident_memory_bytes")) == 2
    one.end(signal.SIGKILL)
    # What it counted stays counted; what it needed, it needs no more.
    assert values(two, "assistant_request_seconds_count", **RECORDED) == [5]
    assert values(two, "assistant_rounds_stored_total") == [5]
    assert len(values(two, "process_resident_memory_bytes")) == 1
    two.end(signal.SIGKILL)
    one.start(PROMETHEUS_MULTIPROC_DIR=str(tmp_path / "metrics"))
    # Nobody was left: all counts begin anew.
    assert values(one, "assistant_request_seconds_count", **RECORDED) == []
    assert values(one, "assistant_rounds_stored_total") == [0]
