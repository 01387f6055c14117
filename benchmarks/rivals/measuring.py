"""Measures one system through the harness: tells and asks it, then reads its reader's prompts.

For the prompts the system is started anew, with the harness as its language model, so everything
that it finds comes from the disk.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx

from benchmarks.load.assistant import printing, serving
from benchmarks.nodes import free_port
from benchmarks.processes import disk_mb, environment

_HERE = Path(__file__).parent
ROOT = _HERE.parents[1]
PROFILE = _HERE / "profile.toml"
OURS = "aide-memoire"
USAGE = "usage.json"
_PROMPTS = "prompts.jsonl"
# The module for each system. The file of its requirements, if it has any, has the same name.
RIVALS = {
    "chroma": "chroma",
    "langgraph": "langgraph",
    "mem0": "mem0",
    "last-10-sessions": "last_sessions",
}
# Nothing leaves the machine: telemetry is off, and other calls end at a proxy that is not there.
_NOWHERE = "http://127.0.0.1:9"
_ALONE = {
    "HTTP_PROXY": _NOWHERE,
    "HTTPS_PROXY": _NOWHERE,
    "NO_PROXY": "127.0.0.1",
    "MEM0_TELEMETRY": "False",
    "ANONYMIZED_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "HF_HUB_OFFLINE": "1",
    "PYTHONPATH": str(ROOT),
}
_READY_SECONDS = 60.0
# Our budget counts the model's tokens, which have more than four characters, and no instructions.
# With this budget no prompt of ours is longer than those of the other systems.
_OURS_TOKENS = 6200


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of runs and of environments, the Python for the environments, and the reader: a
    model at the address `reader` with its name, or nobody.
    """

    out: Path
    environments: Path
    python: str = sys.executable
    reader: str = ""
    reader_model: str = "gpt-4o"


@dataclass(frozen=True, slots=True)
class MachineUse:
    """What a run took of the machine, in MB: the peak memory of the system, that of the encoder's
    process if it is a separate one, and blocks on the disk.
    """

    memory: float
    encoder: float
    disk: float


@dataclass(frozen=True, slots=True)
class Running:
    """A server's URL and the ids of its processes: its own, and the encoder's if it is separate."""

    url: str
    processes: tuple[int, ...]


def measure(name: str, place: Place, questions: Sequence[str]) -> None:
    """Run a system, and record its reader's prompts on the same histories. `questions` are options
    of `harness run` that choose the questions. Finished parts are not done again.
    """
    out = place.out / name
    if not (out / USAGE).exists():
        _run(name, place, questions)
    if not (out / _PROMPTS).exists():
        _listen(name, place, questions)
        _harness("report", str(out))


def _run(name: str, place: Place, questions: Sequence[str]) -> None:
    """Tell, ask and judge a system; leaves a run directory and the machine's use."""
    folder, out = place.out / "data" / name, place.out / name
    folder.mkdir(parents=True, exist_ok=True)
    with started(name, place, folder, place.reader) as running:
        asked = (*questions, *_profile(name), "--assistant", running.url, "--out", str(out))
        _harness("run", "--keep", *asked)
        peaks = [peak_mb(process) for process in running.processes]
    usage = MachineUse(peaks[0], sum(peaks[1:]), disk_mb(folder))
    (out / USAGE).write_text(json.dumps(asdict(usage), indent=2) + "\n")


def _listen(name: str, place: Place, questions: Sequence[str]) -> None:
    """Record the prompts of the system's reader, and copy them into the run directory."""
    out, heard = place.out / name, place.out / "context" / name
    port = free_port()
    reader = f"http://127.0.0.1:{port}/v1"
    with started(name, place, place.out / "data" / name, reader) as running:
        listening = ("--listen", str(port), "--assistant", running.url)
        told = ("--ingested", str(out), "--out", str(heard))
        _harness("context", *questions, *_profile(name), *listening, *told)
    shutil.copy(heard / _PROMPTS, out / _PROMPTS)


def _profile(name: str) -> tuple[str, ...]:
    return () if name == OURS else ("--profile", str(PROFILE))


@contextmanager
def started(name: str, place: Place, folder: Path, reader: str = "") -> Iterator[Running]:
    """Run a system on its folder, with a model at `reader` or none; it ends with the context."""
    if name == OURS:
        with _ours(folder, reader, place.reader_model) as running:
            yield running
        return
    module = RIVALS[name]
    wanted = _HERE / "requirements" / f"{module}.txt"
    python = environment(wanted, place.environments, place.python) if wanted.exists() else None
    command = [str(python or sys.executable), "-m", f"benchmarks.rivals.{module}"]
    command += ["--data", str(folder), "--reader", reader, "--reader-model", place.reader_model]
    encoder = [sys.executable, "-m", "benchmarks.rivals.embeddings"]
    embedding = printing(encoder, _ALONE) if python else nullcontext(("", 0))
    with embedding as (address, encoder_process):
        command += ["--embeddings", f"{address.strip()}/v1"]
        with printing(command, _ALONE) as (line, process):
            url = line.strip()
            if not url.startswith("http"):
                raise RuntimeError(f"{name} did not start: {line!r}")
            yield Running(url, (process, encoder_process) if python else (process,))


@contextmanager
def _ours(folder: Path, reader: str, model: str) -> Iterator[Running]:
    """Run ours, without a cache of vectors on disk, from which only a second run would gain."""
    settings = {"embedder_cache_mb": "0"}
    if reader:
        settings |= {
            "chat_model": f"openai/{model}",
            "recall__context_tokens": str(_OURS_TOKENS),
            "chat_model__base_url": reader,
            "chat_model__api_key": "none",
        }
    with serving(folder, **settings) as (port, process):
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + _READY_SECONDS
        while httpx.get(f"{url}/ready").status_code != 200:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{OURS} is not ready")
            time.sleep(0.1)
        yield Running(url, (process,))


def peak_mb(process_id: int) -> float:
    """The peak memory of a process so far in MB, mapped files included."""
    status = Path(f"/proc/{process_id}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else 0.0


def _harness(*arguments: str) -> None:
    """Run a command of the harness. Raises `CalledProcessError` if it fails."""
    alone: Mapping[str, str] = {name: value for name, value in _ALONE.items() if "PROXY" in name}
    command = [sys.executable, "-m", "harness", *arguments]
    subprocess.run(command, check=True, env=os.environ | alone)
