"""The `assistant` command as a process of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType

import httpx
from nursery import NURSERY, Process

BIN = Path(sys.executable).parent
START_SECONDS = 60.0


def ended(*arguments: object, **settings: str) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own, when it has ended."""
    return finished(("assistant", *arguments), settings=settings)


def finished(
    command: Sequence[object],
    *,
    settings: Mapping[str, str] = MappingProxyType({}),
    timeout: float = 2 * START_SECONDS,
) -> "subprocess.CompletedProcess[str]":
    """A command of either package in a process of its own, when it has ended."""
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        process = NURSERY.start(command, env=hashing(settings), stdout=out, stderr=err)
        code = process.wait(timeout)
        said = [file.seek(0) or file.read() for file in (out, err)]
    return subprocess.CompletedProcess(list(map(str, command)), code, *said)


class Running:
    """A command of either package in a process of its own, as `subprocess.Popen` has one."""

    def __init__(self, command: Sequence[object]) -> None:
        self._said = TemporaryFile("w+")  # noqa: SIM115
        self._process = NURSERY.start(command, stdout=self._said, stderr=self._said)

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def poll(self) -> int | None:
        return self._process.poll()

    def send_signal(self, which: signal.Signals) -> None:
        self._process.send_signal(which)

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for its end; what it said, errors and all."""
        self._process.wait(timeout)
        with self._said as said:
            said.seek(0)
            return said.read(), None


def hashing(settings: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """The environment in which an assistant needs no weights, with more settings."""
    return os.environ | {"ASSISTANT_EMBEDDER": "hash"} | dict(settings)


def _anew(
    command: Sequence[object], *, env: Mapping[str, str], stdout: int
) -> "subprocess.Popen[str]":
    name, *arguments = command
    started = [BIN / str(name), *map(str, arguments)]
    return subprocess.Popen(started, env=env, stdout=stdout, text=True)


class Server:
    """`assistant serve` on a folder; it can be stopped, killed and started again at its address."""

    def __init__(self, data_dir: Path, *, anew: bool = False) -> None:
        """`anew` is for settings that a library reads when it is imported."""
        self.data_dir = data_dir
        self._start = _anew if anew else NURSERY.start
        self.port = 0
        self.first_line = ""
        self._process: Process | subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, **settings: str) -> None:
        """Start it and wait for its first line, which says where it listens."""
        self._process = self._start(
            ("assistant", "serve", "--port", self.port, "--data-dir", self.data_dir),
            env=hashing(settings),
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self.first_line = self._process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self.first_line)
        assert found, f"the server did not start: {self.first_line!r}"
        self.port = int(found[1])
        deadline = time.monotonic() + START_SECONDS
        while httpx.get(f"{self.url}/ready").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stop it (or kill it); returns its exit code."""
        self.signal(how)
        return self.wait()

    def signal(self, which: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(which)

    def wait(self, timeout: float = 30) -> int:
        """Wait for its end; its exit code."""
        assert self._process is not None
        code = self._process.wait(timeout)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None
        return code

    @property
    def running(self) -> bool:
        return self._process is not None
