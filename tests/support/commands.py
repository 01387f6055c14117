"""The `assistant` command as a process of its own, as a user starts it."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

BIN = Path(sys.executable).parent
START_SECONDS = 60.0


def ended(*arguments: object, **settings: str) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own, when it has ended."""
    return subprocess.run(
        [BIN / "assistant", *map(str, arguments)],
        env=os.environ | {"ASSISTANT_EMBEDDER": "hash"} | settings,
        capture_output=True,
        text=True,
        timeout=2 * START_SECONDS,
    )


class Server:
    """`assistant serve` on a folder; it can be stopped, killed and started again at its address."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.port = 0
        self.first_line = ""
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, **settings: str) -> None:
        """Start it and wait for its first line, which says where it listens."""
        self._process = subprocess.Popen(
            [BIN / "assistant", "serve", "--port", str(self.port), "--data-dir", self.data_dir],
            env=os.environ | {"ASSISTANT_EMBEDDER": "hash"} | settings,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.first_line = self._process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self.first_line)
        assert found, f"the server did not start: {self.first_line!r}"
        self.port = int(found[1])
        deadline = time.monotonic() + START_SECONDS
        while httpx.get(f"{self.url}/ready").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)

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
