"""A Qdrant server for tests: one that runs already, or a binary started here.

In this order: the server at `QDRANT_URL` (with `QDRANT_GRPC_PORT`), the binary at `QDRANT_BINARY`,
the binary that `make test` or `make qdrant_server` keeps outside the repository. Tests themselves
download nothing.
"""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

VERSION = "1.16.3"
HOW_TO_GET_ONE = "no Qdrant server: run `make qdrant_server`, or set QDRANT_BINARY or QDRANT_URL"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
FETCHED = _CACHE / "aide-memoire" / f"qdrant-{VERSION}" / "qdrant"
_START_SECONDS = 30.0
_CLUSTER_SECONDS = 60.0


def binary() -> Path | None:
    """The server's program, None where there is none."""
    path = Path(os.environ.get("QDRANT_BINARY") or FETCHED)
    return path if path.is_file() else None


def free_port() -> int:
    """A port of this machine that nothing listens on just now."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@dataclass
class Qdrant:
    """One server process on loopback; it can be killed and started again with its data."""

    program: Path
    folder: Path
    api_key: str = ""
    host: str = "127.0.0.1"
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    grpc_port: int = field(default_factory=free_port)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        """Start it and wait until it is ready."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.program, "--disable-telemetry", *self.arguments],
                cwd=self.folder,
                env=os.environ | self._settings() | self.environment,
                stdout=log,
                stderr=log,
            )
        self._wait()

    def _settings(self) -> dict[str, str]:
        settings = {
            "LOG_LEVEL": "WARN",
            "STORAGE__STORAGE_PATH": str(self.folder / "storage"),
            "STORAGE__SNAPSHOTS_PATH": str(self.folder / "snapshots"),
            "STORAGE__PERFORMANCE__MAX_SEARCH_THREADS": "2",
            "SERVICE__HOST": self.host,
            "SERVICE__HTTP_PORT": str(self.port),
            "SERVICE__GRPC_PORT": str(self.grpc_port),
            "SERVICE__MAX_WORKERS": "2",
        }
        if self.api_key:
            settings["SERVICE__API_KEY"] = self.api_key
        return {f"QDRANT__{name}": value for name, value in settings.items()}

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not (answers(f"{self.url}/readyz") and listens(self.host, self.grpc_port)):
            stopped = self._process is None or self._process.poll() is not None
            if stopped or time.monotonic() > deadline:
                raise RuntimeError(f"Qdrant did not start: {(self.folder / 'log').read_text()}")
            time.sleep(0.02)

    def kill(self) -> None:
        """End it without warning."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hang(self) -> None:
        """Let it keep its connections and answer nothing."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it answer again."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def forget(self, collection: str) -> None:
        """Delete a collection."""
        httpx.delete(f"{self.url}/collections/{collection}", headers={"api-key": self.api_key})


def answers(url: str) -> bool:
    """Whether something answers there with success."""
    try:
        return httpx.get(url, timeout=2.0).is_success
    except httpx.HTTPError:
        return False


def listens(host: str, port: int) -> bool:
    """Whether anything listens there."""
    with socket.socket() as asking:
        return asking.connect_ex((host, port)) == 0


@contextmanager
def running(qdrant: Qdrant) -> Iterator[Qdrant]:
    """The server started, and ended afterwards."""
    try:
        qdrant.start()
        yield qdrant
    finally:
        qdrant.kill()


@contextmanager
def a_server(folder: Path) -> Iterator[Qdrant | None]:
    """A server to share: the one at `QDRANT_URL`, or one started here; None where neither is."""
    program = binary()
    if url := os.environ.get("QDRANT_URL"):
        grpc_port = int(os.environ.get("QDRANT_GRPC_PORT", "6334"))
        port = httpx.URL(url).port or 6333
        yield Qdrant(Path(), folder, port=port, grpc_port=grpc_port)
    elif program:
        with running(Qdrant(program, folder)) as qdrant:
            yield qdrant
    else:
        yield None


@contextmanager
def a_cluster(program: Path, folder: Path, size: int) -> Iterator[list[Qdrant]]:
    """Nodes that know each other, on the same ports of hosts of their own; the others joined the
    first one."""
    port, grpc_port, peer_port = (free_port() for _ in range(3))
    nodes: list[Qdrant] = []
    for number in range(size):
        host = f"127.0.0.{number + 1}"
        uri = ("--uri", f"http://{host}:{peer_port}")
        joined = ("--bootstrap", f"http://127.0.0.1:{peer_port}") if number else ()
        enabled = {"QDRANT__CLUSTER__ENABLED": "true", "QDRANT__CLUSTER__P2P__PORT": str(peer_port)}
        place = folder / f"node-{number}"
        node = Qdrant(program, place, "", host, uri + joined, enabled, port, grpc_port)
        nodes.append(node)
    try:
        for node in nodes:
            node.start()
        _wait_for_peers(nodes)
        yield nodes
    finally:
        for node in nodes:
            node.kill()


def _wait_for_peers(nodes: list[Qdrant]) -> None:
    deadline = time.monotonic() + _CLUSTER_SECONDS
    for node in nodes:
        while len(httpx.get(f"{node.url}/cluster").json()["result"]["peers"]) < len(nodes):
            if time.monotonic() > deadline:
                raise RuntimeError("the nodes did not find each other")
            time.sleep(0.1)
