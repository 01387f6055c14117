"""The address of an assistant or a model, whom to trust there, and how patiently requests are
repeated; and servers that the harness starts itself."""

import os
import random
import shlex
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx

from harness.errors import AssistantUnreachable, UsageError, raising


def require_http(url: str, option: str) -> None:
    """Refuse what is no http(s) URL; `option` is where it was given."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"{option}: {url!r} is not an http(s) URL")


def public_url(url: str) -> str:
    """A URL without credentials, query and fragment, fit for a manifest."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def trust_for(url: str) -> ssl.SSLContext:
    """What httpx is to `verify` a server by: the certificate authorities of this machine, or of
    `SSL_CERT_FILE` and `SSL_CERT_DIR`.

    Plain http needs none, which spares reading them: it gets a context that trusts nobody, should
    anything come to https after all. Raises `httpx.InvalidURL`.
    """
    plain = httpx.URL(url).scheme == "http"
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else authorities()


@cache
def authorities() -> ssl.SSLContext:
    """The certificate authorities, read once for all clients: it takes longer than a short run."""
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounds on repetition.

    `attempts` bounds requests that get a bad answer (5xx, 429, no answer in time). Lost connections
    are bounded by time instead, `reconnect_seconds`, so that a run survives a server being
    restarted. All waits are in seconds.
    """

    attempts: int = 4
    reconnect_seconds: float = 90.0
    first_wait: float = 0.25
    longest_wait: float = 5.0
    longest_retry_after: float = 60.0

    def wait(self, failures: int, retry_after: str | None = None) -> float:
        """Seconds before the next try: exponential with jitter, never shorter than the server asks
        for.
        """
        ceiling = min(self.longest_wait, self.first_wait * 2.0 ** min(failures - 1, 16))
        backoff = ceiling * random.uniform(0.5, 1.0)
        return max(backoff, self.asked_for(retry_after))

    def asked_for(self, retry_after: str | None) -> float:
        """Seconds that a `Retry-After` header asks for, 0 where it names none."""
        try:
            asked = float(retry_after or 0)
        except ValueError:
            asked = _seconds_until(retry_after or "")
        return min(max(asked, 0.0), self.longest_retry_after)


def _seconds_until(http_date: str) -> float:
    try:
        return (parsedate_to_datetime(http_date) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):  # neither form: our own backoff will do
        return 0.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how an assistant or a model is asked; `timeout` is seconds for one request."""

    url: str
    api_key: str | None = field(default=None, repr=False)
    model: str = "aide-memoire"
    timeout: float = 120.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        require_http(self.url, "--assistant")

    @property
    def public_url(self) -> str:
        return public_url(self.url)


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
    refused = raising(UsageError, f"--server {command!r}: cannot be started")
    with log.open("ab") as output, refused:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **(environment or {})},
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(process, url, log, ready_seconds)
        yield url
    finally:
        _stop(process)


def free_port() -> int:
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
