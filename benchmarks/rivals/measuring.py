"""One system through the harness: told and asked, then read over the shoulder of its reader.

The second time it is started anew, with the harness as its language model: what it found comes from
the disk.
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
# By name: the module that speaks to it. Its requirements have the same name, where it has any.
RIVALS = {
    "chroma": "chroma",
    "langgraph": "langgraph",
    "mem0": "mem0",
    "last-10-sessions": "last_sessions",
}
# Nothing leaves the machine: telemetry is off, and what is called all the same finds no way.
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
# Our tokens are the model's, of more than four characters, and instructions are not counted: with
# so many no prompt is longer than those of the others.
_OURS_TOKENS = 6200


@dataclass(frozen=True, slots=True)
class Place:
    """Where runs go, where environments are made and for which Python, and who reads: a model at
    `reader` by its name, or nobody.
    """

    out: Path
    environments: Path
    python: str = sys.executable
    reader: str = ""
    reader_model: str = "gpt-4o"


@dataclass(frozen=True, slots=True)
class MachineUse:
    """What a run took of the machine, in MB: memory at its peak of the system and of the encoder's
    process where that is another, and blocks on the disk.
    """

    memory: float
    encoder: float
    disk: float


@dataclass(frozen=True, slots=True)
class Running:
    """A server, by its URL, and the processes that make it up: its own, perhaps the encoder's."""

    url: str
    processes: tuple[int, ...]


def measure(name: str, place: Place, questions: Sequence[str]) -> None:
    """A run of a system, and what its reader gets to see of the same histories; `questions` are
    options of `harness run` that choose them. What is there already is not done again.
    """
    out = place.out / name
    if not (out / USAGE).exists():
        _run(name, place, questions)
    if not (out / _PROMPTS).exists():
        _listen(name, place, questions)
        _harness("report", str(out))


def _run(name: str, place: Place, questions: Sequence[str]) -> None:
    """Told, asked and judged; leaves a run directory and what it took of the machine."""
    folder, out = place.out / "data" / name, place.out / name
    folder.mkdir(parents=True, exist_ok=True)
    with started(name, place, folder, place.reader) as running:
        asked = (*questions, *_profile(name), "--assistant", running.url, "--out", str(out))
        _harness("run", "--keep", *asked)
        peaks = [peak_mb(process) for process in running.processes]
    usage = MachineUse(peaks[0], sum(peaks[1:]), disk_mb(folder))
    (out / USAGE).write_text(json.dumps(asdict(usage), indent=2) + "\n")


def _listen(name: str, place: Place, questions: Sequence[str]) -> None:
    """The prompts of its reader, put into the run directory."""
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
    """A system on its folder, read by a model at `reader` or by nobody; ended at the end."""
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
    """Without vectors kept on disk, which only a second run would gain from."""
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
    """The most memory that a process has had so far, files mapped into it included."""
    status = Path(f"/proc/{process_id}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else 0.0


def _harness(*arguments: str) -> None:
    """A command of the harness to its end. Raises `CalledProcessError` where it fails."""
    alone: Mapping[str, str] = {name: value for name, value in _ALONE.items() if "PROXY" in name}
    command = [sys.executable, "-m", "harness", *arguments]
    subprocess.run(command, check=True, env=os.environ | alone)
