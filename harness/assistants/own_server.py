"""A server of our own for as long as it is needed: started by its command, on a free port."""

import os
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from harness.assistants.endpoint import trust_for
from harness.errors import AssistantUnreachable, UsageError

LOG = "server.log"
_LOG_LINES = 20
_STOP_SECONDS = 10.0


@contextmanager
def own_server(
    command: str,
    data_dir: Path,
    log: Path,
    ready_seconds: float,
    environment: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """The URL of a running assistant; it is stopped at the end. Raises `UsageError` where the
    command cannot be started, `AssistantUnreachable` where it ends or is not ready in time."""
    port = free_port()
    arguments = [*shlex.split(command), "--port", str(port), "--data-dir", str(data_dir)]
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **(environment or {})},
            )
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"--server {command!r}: cannot be started ({reason})") from error
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(process, url, log, ready_seconds)
        yield url
    finally:
        _stop(process)


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(
    process: "subprocess.Popen[bytes]", url: str, log: Path, seconds: float
) -> None:
    deadline = time.monotonic() + seconds
    with httpx.Client(trust_env=False, timeout=5.0, verify=trust_for(url)) as client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                problem = f"the server ended with exit code {process.returncode}"
                raise AssistantUnreachable(f"{problem}; the end of {log}:\n{_tail(log)}")
            try:
                if client.get(f"{url}/ready").status_code == 200:
                    return
            except httpx.TransportError:
                pass  # not listening yet
            time.sleep(0.1)
    problem = f"the server was not ready within {seconds:g} s"
    raise AssistantUnreachable(f"{problem}; the end of {log}:\n{_tail(log)}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End the server and what it started: it leads a process group of its own."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-_LOG_LINES:]) or "(empty)"
