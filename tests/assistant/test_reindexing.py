"""The memory indexed anew by the server that uses it, as an admin asks for it."""

import asyncio
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import assert_error, record
from in_process import Run, assert_refused
from memories import copied, made_up, remember
from served import served

from assistant import Settings, create_app
from assistant.errors import ReindexRefused
from assistant.services import open_services
from memory_store.engines import EdgeEngine

_SECONDS = 60.0


@pytest.fixture(scope="module")
def _written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    asyncio.run(remember(EdgeEngine(folder), made_up(150)))
    return folder


@pytest.fixture
def data(tmp_path: Path, _written: Path) -> Path:
    return copied(_written, tmp_path / "data")


@pytest.fixture
def http(data: Path) -> Iterator[httpx.Client]:
    with (
        served(create_app(Settings(embedder="hash", data_dir=data))) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client


def ended(http: httpx.Client) -> dict[str, Any]:
    """How it ended."""
    deadline = time.monotonic() + _SECONDS
    while True:
        said: dict[str, Any] = http.get("/v1/reindex").json()
        if said["status"] != "running":
            return said
        assert time.monotonic() < deadline, said
        time.sleep(0.2)


def test_it_runs_once_at_a_time_while_everybody_is_served(http: httpx.Client, data: Path) -> None:
    none = http.get("/v1/reindex").json()
    assert (none["status"], none["embedder"], none["started"]) == ("none", "hash", False)
    first = http.post("/v1/reindex", params={"again": True}).json()
    assert (first["status"], first["started"]) == ("running", True)
    second = http.post("/v1/reindex", params={"again": True}).json()
    assert (second["status"], second["started"]) == ("running", False)
    assert record(http, "ann", "s", "I live in Ghent.", "Noted.").status_code == 200
    body = {"user_id": "ann", "query": "Where do I live?"}
    assert http.post("/v1/memories/search", json=body).json()["data"]
    done = ended(http)
    assert (done["status"], done["error"], done["step"]) == ("done", None, "checking")
    assert done["rounds"] == done["total"] >= 150
    assert http.post("/v1/memories/search", json=body).json()["data"]
    assert [path.name for path in data.glob("edge*")] == ["edge"]


def test_nothing_to_do_is_done(http: httpx.Client) -> None:
    assert http.post("/v1/reindex").json()["started"]
    said = ended(http)
    assert (said["status"], said["step"]) == ("done", "")


def test_a_failure_is_told_and_harms_nobody(http: httpx.Client, data: Path) -> None:
    (data / "edge.next").write_text("in the way")
    assert http.post("/v1/reindex", params={"again": True}).json()["started"]
    failed = ended(http)
    assert failed["status"] == "failed"
    assert "edge.next" in failed["error"]
    assert http.get("/ready").json()["status"] == "ready"
    (data / "edge.next").unlink()
    assert http.post("/v1/reindex", params={"again": True}).json()["started"]
    assert ended(http)["status"] == "done"


async def test_a_design_with_vectors_of_its_own_is_left_to_the_command(data: Path) -> None:
    settings = Settings(embedder="hash", data_dir=data, design="longmemeval")
    async with open_services(settings) as services:
        with pytest.raises(ReindexRefused, match="stop the assistant"):
            services.reindexing.start()


async def test_several_workers_are_told_what_to_do(data: Path) -> None:
    settings = Settings(embedder="hash", data_dir=data, workers=2)
    with served(create_app(settings)) as url:
        reply = httpx.post(f"{url}/v1/reindex")
    error = assert_error(reply, 409, "invalid_request_error", "reindex_refused")
    assert "assistant reindex --keep-old" in error["message"]


def test_what_the_end_of_a_server_interrupts_is_gone_on_with(data: Path) -> None:
    settings = Settings(embedder="hash", data_dir=data)
    with served(create_app(settings)) as url:
        assert httpx.post(f"{url}/v1/reindex", params={"again": True}).json()["started"]
        deadline = time.monotonic() + _SECONDS
        while not (data / "edge.next").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert (data / "edge.next").exists()
    with served(create_app(settings)) as url, httpx.Client(base_url=url) as http:
        deadline = time.monotonic() + _SECONDS
        while http.get("/v1/reindex").json()["status"] == "none":
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert ended(http)["status"] == "done"
    assert [path.name for path in data.glob("edge*")] == ["edge"]


def test_an_index_that_a_command_has_begun_is_left_to_it(data: Path) -> None:
    settings = Settings(embedder="hash", data_dir=data)
    shutil.copytree(data / "edge", data / "edge.next")
    with served(create_app(settings)) as url, httpx.Client(base_url=url) as http:
        time.sleep(0.5)
        assert http.get("/v1/reindex").json()["status"] == "none"


def test_by_command(run: Run, http: httpx.Client) -> None:
    named = ("--assistant", str(http.base_url))
    done = run("reindex", "--again", *named)
    assert done.code == 0, done.err
    assert "is searched by hash now" in done.out
    assert run("reindex", "--json", *named).json["status"] == "done"
    assert_refused(run("reindex", "--cancel", *named), "for an assistant that is stopped")
