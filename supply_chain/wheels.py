"""The packages as files: built (`make wheels`), checked, and tried out where nothing else is
installed."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from supply_chain.lock import ROOT

DIST = ROOT / "dist"
# Each is built from its folder alone. The harness needs nothing of the other.
FOLDERS = {"aide_memoire": ROOT, "aide_memoire_harness": ROOT / "harness"}
# What the harness may take on a disk, with all that it depends on.
MOST_BYTES = 60_000_000
_NOT_WITH_THE_ASSISTANT = ("harness", "torch", "sentence_transformers")
_NOT_WITH_THE_HARNESS = ("assistant", "memory_store", "torch", "numpy", "scipy", "openai")
_START_SECONDS = 120.0
# Not in /tmp, which may lie in memory: the assistant takes some 700 MB.
_ROOM = "/var/tmp"


class TrialFailed(Exception):
    """A built package does not do what it is for."""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command prints; `TrialFailed` with all it said where it fails."""
    ended = subprocess.run(command, cwd=cwd, env=_bare(), capture_output=True, text=True)
    if ended.returncode:
        said = (ended.stdout + ended.stderr)[-3000:]
        raise TrialFailed(f"{' '.join(map(str, command))}: {said}")
    return ended.stdout


def _bare() -> dict[str, str]:
    """Of the environment only what finds programs, certificates and packages."""
    passed = ("PATH", "HOME", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    return {
        name: value
        for name, value in os.environ.items()
        if name in passed or name.startswith(("PIP_", "UV_"))
    }


def build(dist: Path) -> list[Path]:
    """The sdist of each package, and its wheel, made from the sdist: that it holds all it needs."""
    builder = (sys.executable, "-m", "hatchling", "build", "-d", dist)
    for name, folder in FOLDERS.items():
        run(*builder, "-t", "sdist", cwd=folder)
        with tempfile.TemporaryDirectory() as place:
            with tarfile.open(_only(dist, f"{name}-[0-9]*.tar.gz")) as archive:
                archive.extractall(place, filter="data")
            run(*builder, "-t", "wheel", cwd=_only(Path(place), f"{name}-*"))
    return sorted(dist.iterdir())


def check(files: list[Path]) -> None:
    """What the package index would say to them."""
    run(sys.executable, "-m", "twine", "check", "--strict", *files)


def try_out(dist: Path) -> Iterator[str]:
    """Install each package alone and both together, in new environments, and use them; what was
    seen, line by line.

    Dependencies are the newest that the packages allow, as everybody gets them.
    """
    with tempfile.TemporaryDirectory(dir=_ROOM) as place:
        folder = Path(place)
        alone, server = _environment(folder / "alone"), _environment(folder / "server")
        yield _harness_alone(alone, dist)
        _install(server, "--find-links", dist, "aide-memoire")
        _refuse(server, _NOT_WITH_THE_ASSISTANT)
        with _serving(folder, server / "assistant") as url:
            out = folder / "sample"
            sample = ("run", "--dataset", "sample", "--assistant", url, "--out", out)
            run(alone / "harness", *sample, cwd=folder)
        report = json.loads((out / "report.json").read_text())
        if report["n"] != report["data"]["questions"] or report["missing"]:
            raise TrialFailed(f"the sample was not answered: {report['missing']} are missing")
        yield f"harness run --dataset sample: {report['n']} questions, {report['missing']} missing"
        yield _side_by_side(server, dist)
        yield _by_uvx(folder, dist)


def _harness_alone(programs: Path, dist: Path) -> str:
    before = _bytes(programs)
    _install(programs, "--find-links", dist, "aide-memoire-harness")
    _refuse(programs, _NOT_WITH_THE_HARNESS)
    taken = _bytes(programs) - before
    if taken > MOST_BYTES:
        raise TrialFailed(f"the harness takes {taken / 1e6:.1f} MB")
    return f"the harness alone: {taken / 1e6:.1f} MB on disk"


def _refuse(programs: Path, unwanted: Sequence[str]) -> None:
    """Fail where an environment has one of these modules."""
    look = f"print(*(one for one in {unwanted!r} if find_spec(one)))"
    code = f"from importlib.util import find_spec; {look}"
    if found := run(programs / "python", "-I", "-c", code).strip():
        raise TrialFailed(f"the package brings {found}")


def _side_by_side(programs: Path, dist: Path) -> str:
    _install(programs, "--find-links", dist, "aide-memoire[harness]")
    list_files = (
        "import json; from importlib.metadata import files; "
        "print(json.dumps([[str(f) for f in files(n)] for n in ('aide-memoire', "
        "'aide-memoire-harness')]))"
    )
    ours, theirs = map(set, json.loads(run(programs / "python", "-I", "-c", list_files)))
    if shared := ours & theirs:
        raise TrialFailed(f"both packages own {', '.join(sorted(shared))}")
    run(programs / "harness", "--help")
    run(programs / "python", "-m", "pip", "uninstall", "--quiet", "--yes", "aide-memoire-harness")
    run(programs / "assistant", "--help")
    return f"side by side: {len(ours)} and {len(theirs)} files, none owned by both"


def _by_uvx(folder: Path, dist: Path) -> str:
    programs = _environment(folder / "uv")
    _install(programs, "uv")
    own = ("--cache-dir", folder / "cache", "--python", sys.executable, "--system-certs")
    taken = ("--no-build", "--find-links", dist, "aide-memoire")
    command = (programs / "uvx", *own, *taken)
    run(*command, "--version", cwd=folder)
    with _serving(folder, *command):
        return "uvx aide-memoire serve: up"


def _environment(folder: Path) -> Path:
    """The programs of a new environment."""
    run(sys.executable, "-m", "venv", folder)
    return folder / "bin"


def _install(programs: Path, *what: str | Path) -> None:
    run(programs / "python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *what)


def _bytes(programs: Path) -> int:
    """What an environment takes on the disk."""
    return sum(one.lstat().st_blocks * 512 for one in programs.parent.rglob("*"))


@contextmanager
def _serving(folder: Path, *command: str | Path) -> Iterator[str]:
    """The URL of an assistant that is up, with its memory in the folder."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    options = ("--port", str(port), "--data-dir", str(folder / "memory"))
    log = folder / "server.log"
    with log.open("w") as said:
        server = subprocess.Popen(
            [*command, "serve", *options], cwd=folder, env=_bare(), stdout=said, stderr=said
        )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not _is_up(url):
            if server.poll() is not None or time.monotonic() > deadline:
                raise TrialFailed(f"the assistant does not start: {log.read_text()[-3000:]}")
            time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _is_up(url: str) -> bool:
    try:
        with urlopen(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def _only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def main() -> None:
    """Build both packages in `dist`."""
    shutil.rmtree(DIST, ignore_errors=True)
    print(*(one.relative_to(ROOT) for one in build(DIST)), sep="\n")


if __name__ == "__main__":
    main()
