"""A demonstration from nothing: start a server, run the sample set against it, stop the server."""

import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from rich.console import Console

from harness.assistants.endpoint import Endpoint
from harness.datasets.selection import Filters, Source
from harness.errors import AssistantUnreachable, UsageError
from harness.judges.lexical import LexicalJudge
from harness.pipeline.histories import ReplayOptions
from harness.pipeline.judging import judge_run
from harness.pipeline.replay import replay_run
from harness.pipeline.run import Run
from harness.records.manifest import load_manifest
from harness.records.run_dir import RunDir
from harness.replay.modes.choice import Approach
from harness.urls import trust_for

LOG = "server.log"
_LOG_LINES = 20
_STOP_SECONDS = 10.0


def run_demo(command: str, out: Path, console: Console, *, ready_seconds: float) -> tuple[Run, int]:
    """Replay and judge the sample on a server of our own; returns the run and its failed count."""
    run_dir = RunDir(out)
    run_dir.create()
    _clear(run_dir)
    log = out / LOG
    with tempfile.TemporaryDirectory(prefix="aide-memoire-demo-") as data_dir:
        console.print(f"starting {command!r}, its log is {log}", highlight=False)
        with _server(command, Path(data_dir), log, ready_seconds) as url:
            opened = Run(Source("sample", None, Filters()), out, console)
            failed = replay_run(opened, Endpoint(url), Approach(), ReplayOptions())
        judge_run(opened, LexicalJudge())
    return opened, failed


def _clear(run_dir: RunDir) -> None:
    """Remove an earlier demonstration: its memories are gone, there is nothing to continue."""
    manifest = load_manifest(run_dir)
    if manifest is None:
        return
    if manifest.data["dataset"]["name"] != "sample":
        raise UsageError(f"--out {run_dir.path} holds another run: choose another folder")
    for path in run_dir.path.iterdir():
        if path.suffix in (".json", ".jsonl"):
            path.unlink()


@contextmanager
def _server(command: str, data_dir: Path, log: Path, ready_seconds: float) -> Iterator[str]:
    port = _free_port()
    arguments = [*shlex.split(command), "--port", str(port), "--data-dir", str(data_dir)]
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
