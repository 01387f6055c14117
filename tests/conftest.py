"""What holds for every test: no network but loopback, no keys, no settings from outside."""

import asyncio
import gc
import os
import shutil
import socket
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from browser import a_chromium
from nursery import NURSERY
from qdrant_binary import HOW_TO_GET_ONE, Qdrant, a_cluster, a_server, binary

from memory_store import MemoryStore, engines
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import EdgeEngine

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy")
_OURS = ("ASSISTANT_", "HARNESS_")

# Read when these libraries are imported, which may be before the first test.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

# Every HTTP client reads the certificates of the authorities first, which takes longer than most
# requests of a test, and none of them goes to https. There are none in this folder.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)

# Collecting makes hundreds of thousands of objects that stay; see `pytest_collection_finish`.
gc.disable()

# A memory waits for the disk whenever it is written; where there is room, tests keep theirs in
# memory, which outlives a killed process as well.
_IN_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 4 << 30

if _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free > _ROOM_BYTES:
    tempfile.tempdir = os.environ["TMPDIR"] = str(_IN_MEMORY)


def pytest_collection_finish() -> None:
    """Let the garbage collector look at what tests make, and never again at what was there before:
    statsmodels calls it whenever it corrects p-values."""
    gc.freeze()
    gc.enable()


class NetworkForbidden(RuntimeError):
    """A test tried to leave this machine."""


@pytest.fixture(scope="session")
def _empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nowhere")


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch, _empty_folder: Path) -> None:
    """No key, proxy or setting of the caller's shell; no `.env` or settings file of its folder."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.lower() in _PROXIES or name.upper().startswith(_OURS):
            monkeypatch.delenv(name)
    monkeypatch.chdir(_empty_folder)


@pytest.fixture(autouse=True, scope="session")
def _loopback_only() -> Iterator[None]:
    """Sockets connect to this machine only, whoever opens them and from whichever thread."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        patch.setattr(socket, "getaddrinfo", _guarded_lookup(socket.getaddrinfo))
        yield


def _guarded(original: Any) -> Any:
    def connect(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise NetworkForbidden(f"tests may reach loopback only, not {address!r}")
        return original(self, address)

    return connect


def _guarded_lookup(original: Any) -> Any:
    def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name and not _is_loopback(name):
            raise NetworkForbidden(f"tests may look up loopback only, not {name!r}")
        return original(host, *more, **options)

    return getaddrinfo


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(autouse=True, scope="session")
def _nursery() -> Iterator[None]:
    yield
    NURSERY.close()


@pytest.fixture(scope="session")
def _engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeEngine]:
    """One for all tests: making a shard takes longer than most of them."""
    engine = EdgeEngine(tmp_path_factory.mktemp("memory"))
    asyncio.run(engine.open(HashEncoder().identity.dimension))
    yield engine
    asyncio.run(engine.close())


@pytest.fixture
async def store(_engine: EdgeEngine) -> AsyncIterator[MemoryStore]:
    """A store in which `ann` has told nothing yet."""
    embedder = Embedder(HashEncoder())
    opened = MemoryStore(_engine, embedder)
    yield opened
    await opened.forget_user("ann")
    await embedder.close()


@pytest.fixture(scope="session")
def qdrant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Qdrant]:
    """A Qdrant server that tests share; each uses collections of its own."""
    with a_server(tmp_path_factory.mktemp("qdrant")) as server:
        if server is None:
            pytest.skip(HOW_TO_GET_ONE)
        yield server


@pytest.fixture
def collection(qdrant: Qdrant) -> Iterator[str]:
    """The name of a collection that is deleted afterwards."""
    name = f"test-{uuid.uuid4()}"
    yield name
    qdrant.forget(name)


@pytest.fixture
def another_server_engine(qdrant: Qdrant, collection: str) -> Callable[[], "engines.ServerEngine"]:
    """Makes engines on the shared server, as other processes have them."""
    return lambda: engines.ServerEngine(
        qdrant.url, grpc_port=qdrant.grpc_port, collection=collection
    )


@pytest.fixture
def server_engine(
    another_server_engine: Callable[[], "engines.ServerEngine"],
) -> "engines.ServerEngine":
    """An engine on the shared server."""
    return another_server_engine()


@pytest.fixture
def own_qdrant(tmp_path: Path) -> Iterator[Qdrant]:
    """A server of the test's own, to be killed and started as it likes; not started yet."""
    program = binary()
    if program is None:
        pytest.skip(HOW_TO_GET_ONE)
    server = Qdrant(program, tmp_path / "qdrant")
    yield server
    server.kill()


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[list[Qdrant]]:
    """A cluster of three nodes, of the test's own."""
    program = binary()
    if program is None:
        pytest.skip(HOW_TO_GET_ONE)
    with a_cluster(program, tmp_path, 3) as started:
        yield started


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests that want one: its driver cannot run twice in a process."""
    with a_chromium() as browser:
        yield browser
