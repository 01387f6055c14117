"""A Qdrant server of one node or more, each a process on loopback that can be lost and come back.

Needs the server's program at `QDRANT_BINARY`, or as `make qdrant_server` keeps it.
"""

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.load.assistant import resident_mb
from memory_store.engines import ServerEngine

_CACHED = ".cache/aide-memoire/qdrant-*/qdrant"
_READY_S = 600.0


@dataclass
class QdrantNode:
    """One server process, with its files in a folder that stays."""

    folder: Path
    host: str
    port: int
    grpc_port: int
    arguments: Sequence[str] = ()
    environment: dict[str, str] = field(default_factory=dict)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """The address at which it listens for HTTP."""
        return f"http://{self.host}:{self.port}"

    @property
    def process_id(self) -> int:
        """The id of the running process."""
        assert self._process is not None
        return self._process.pid

    def engine(self) -> ServerEngine:
        """The memory engine on this node, for a server of only one node."""
        return ServerEngine(self.url, grpc_port=self.grpc_port, timeout=60)

    def resident(self) -> float:
        """Its memory in MB, files mapped into it included."""
        return resident_mb(self.process_id)

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = {
            "LOG_LEVEL": "WARN",
            "SERVICE__HOST": self.host,
            "SERVICE__HTTP_PORT": str(self.port),
            "SERVICE__GRPC_PORT": str(self.grpc_port),
            **self.environment,
        }
        self._process = subprocess.Popen(
            [_program(), "--disable-telemetry", *self.arguments],
            cwd=self.folder,
            env=os.environ | {f"QDRANT__{name}": value for name, value in settings.items()},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + _READY_S
        while not _answers(f"{self.url}/readyz"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"nothing answers at {self.url}")
            time.sleep(0.05)

    def end(self) -> None:
        """Ask it to end, and wait for it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)

    def kill(self) -> None:
        """End it without warning."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _program() -> str:
    """The path of the server's program; raises `FileNotFoundError` if there is none."""
    found = [os.environ.get("QDRANT_BINARY"), *map(str, sorted(Path.home().glob(_CACHED)))]
    for path in filter(None, found):
        return path
    raise FileNotFoundError("no Qdrant server: run `make qdrant_server`, or set QDRANT_BINARY")


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).is_success
    except httpx.TransportError:
        return False


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@contextmanager
def one_node(kept: Path | None = None) -> Iterator[QdrantNode]:
    """A server of one node, which ends with the context. Its files stay only in a folder `kept`."""
    with ExitStack() as stack:
        folder = kept or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        node = QdrantNode(folder, "127.0.0.1", free_port(), free_port())
        stack.callback(node.end)
        node.start()
        yield node


@contextmanager
def cluster(folder: Path, size: int) -> Iterator[list[QdrantNode]]:
    """Nodes that know each other, each on a loopback host of its own with the same ports; they end
    with the context. Their files stay in the folder, as do the ports, by which they find each
    other again."""
    kept = folder / "ports"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(" ".join(str(free_port()) for _ in range(3)))
    port, grpc_port, peer_port = map(int, kept.read_text().split())
    with ExitStack() as stack:
        nodes: list[QdrantNode] = []
        for number in range(size):
            host = f"127.0.0.{number + 1}"
            uri = ("--uri", f"http://{host}:{peer_port}")
            joins = ("--bootstrap", f"http://127.0.0.1:{peer_port}") if number else ()
            enabled = {"CLUSTER__ENABLED": "true", "CLUSTER__P2P__PORT": str(peer_port)}
            node = QdrantNode(folder / f"node{number}", host, port, grpc_port)
            if size > 1:
                node.arguments, node.environment = uri + joins, enabled
            stack.callback(node.end)
            node.start()
            nodes.append(node)
        yield nodes
