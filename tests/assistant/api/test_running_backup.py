"""A backup of a running memory: whole, and of each user as at one moment."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from calls import record
from in_process import Run
from served import served

from assistant import Settings, create_app

HEADER = {"format": "aide-memoire/records", "version": 3}
COLOURS = ("green", "red", "blue")


@pytest.fixture
def http(tmp_path: Path) -> Iterator[httpx.Client]:
    settings = Settings(embedder="hash", data_dir=tmp_path)
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def backed_up(http: httpx.Client) -> list[dict[str, Any]]:
    reply = http.get("/v1/backup")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/x-ndjson"
    first, *records, last = [json.loads(line) for line in reply.text.splitlines()]
    assert (first, last) == (HEADER, {"records": len(records)})
    return records


def test_an_empty_memory(http: httpx.Client) -> None:
    assert backed_up(http) == []


def test_everything_of_everybody(http: httpx.Client) -> None:
    for user in ("bob", "ann", "zoë"):
        record(http, user, f"of {user}", f"I am {user} and I like tea.", "Noted.", "Bye.", "Bye!")
    records = backed_up(http)
    assert [(one["user_id"], one["round_index"]) for one in records] == [
        (user, index) for user in ("ann", "bob", "zoë") for index in (0, 1)
    ]
    whole = (HEADER, *records, {"records": len(records)})
    lines = "".join(f"{json.dumps(line)}\n" for line in whole)
    http.delete("/v1/users/ann/memories")
    reply = http.post("/v1/users/ann/import", content=lines)
    assert reply.json()["imported"] == 6


def test_what_is_kept_beside_a_memory_is_in_it_and_counts_as_none(
    http: httpx.Client, run: Run, tmp_path: Path
) -> None:
    space = http.post("/v1/spaces", json={"user_id": "ann", "name": "Ours"}).json()["space"]
    record(http, "ann", "s", "I like tea.", "Noted.", space=space)
    record(http, "ann", "s", "I like rye.", "Noted.")
    kept = http.put("/v1/users/ann/surroundings", json={"timezone": "Asia/Tokyo"})
    assert kept.status_code == 200
    assert len(backed_up(http)) == 4
    assert http.get("/version").json()["design"]["fallbacks"] == {}
    file = tmp_path / "backup.jsonl"
    assert run("backup", file, "--assistant", str(http.base_url), "--json").json["rounds"] == 2
    restored = run("restore", file, "--data-dir", tmp_path / "other", "--json")
    assert restored.json["rounds"] == 2


def test_what_is_said_meanwhile_is_in_it_whole_or_not_at_all(http: httpx.Client) -> None:
    ended = Event()

    def talk() -> int:
        said = 0
        while not ended.is_set():
            colour = COLOURS[said % len(COLOURS)]
            when = f"2023-05-20T{said // 60 % 24:02d}:{said % 60:02d}:00Z"
            text = f"My favourite colour is {colour}."
            assert record(http, "ann", "s", text, timestamp=when).status_code == 200
            said += 1
        return said

    with ThreadPoolExecutor(1) as threads:
        talking = threads.submit(talk)
        try:
            backups = [backed_up(http) for _ in range(20)]
        finally:
            ended.set()
        assert talking.result() >= len(backups[-1])
    assert backups[-1]
    for records in backups:
        assert [one["round_index"] for one in records] == list(range(len(records)))
        standing = [one for one in records if not one["facts"][0].get("superseded_by")]
        # Each colour replaces the one before it: the newest alone holds.
        assert standing == records[-1:]
