"""The image: built from the Dockerfile without a daemon, started, told, stopped, asked.

It needs root, buildah and mmdebstrap (Debian packages), a Debian mirror and the package index, some
5 GB below /var/tmp and about ten minutes. The base is a Debian with Python instead of the published
image, and what pip takes is fetched first, so that the build itself needs no network.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from qdrant_binary import free_port

from supply_chain.lock import BOOTSTRAP, IMAGE, LOCK, ROOT
from supply_chain.packages import image_packages
from supply_chain.sbom import of_tree

pytestmark = pytest.mark.slow

_TOOLS = ("buildah", "mmdebstrap")
_DEBIAN = ("bookworm", "python3.11", "ca-certificates,python3,python3-venv,python3-pip")
_NAME = "localhost/aide-memoire"
_BASE = "localhost/python:3.11-slim"
_USER = 10001
_START_SECONDS = 180.0
# Above what is measured (docs/supply-chain.md), and below what any build of torch would make of it.
_MOST_BYTES = 650_000_000


def run(*command: str | Path) -> str:
    # The certificates that tests hide are needed for fetching.
    outside = {name: value for name, value in os.environ.items() if name != "SSL_CERT_DIR"}
    ended = subprocess.run(command, env=outside, capture_output=True, text=True)
    assert ended.returncode == 0, f"{command}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}"
    return ended.stdout.strip()


@dataclass
class Builder:
    """buildah with a store of its own."""

    folder: Path

    def command(self, *arguments: str) -> list[str]:
        places = ["--root", f"{self.folder}/store", "--runroot", f"{self.folder}/run"]
        return ["buildah", *places, "--storage-driver", "vfs", *arguments]

    def __call__(self, *arguments: str) -> str:
        return run(*self.command(*arguments))

    def run(self, container: str, *command: str, options: tuple[str, ...] = ()) -> list[str]:
        isolated = ("--isolation", "chroot", *options)
        return self.command("run", *isolated, container, "--", *command)


def base(build: Builder) -> None:
    """A Debian with Python under the name of the published image."""
    suite, python, packages = _DEBIAN
    root = build.folder / "root.tar"
    run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={packages}", suite, root)
    container = build("from", "scratch")
    build("add", "--quiet", container, str(root), "/")
    run(*build.run(container, "ln", "-s", f"/usr/bin/{python}", "/usr/local/bin/python"))
    build("commit", "--quiet", container, _BASE)
    build("rm", container)
    root.unlink()


def wheels(folder: Path) -> Path:
    """A folder with what the lock lets pip take, and pip's configuration to look nowhere else."""
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes")
    options = ("--only-binary", ":all:", "--dest", str(folder / "wheels"))
    run(*pip, *options, "-c", LOCK, "-r", IMAGE)
    run(*pip, *options, "-r", BOOTSTRAP)
    (folder / "pip.conf").write_text("[global]\nno-index = true\nfind-links = /wheels\n")
    return folder


@pytest.fixture(scope="module")
def build() -> Iterator[Builder]:
    """A store with the image in it, removed at the end."""
    if missing := [tool for tool in _TOOLS if not shutil.which(tool)]:
        pytest.skip(f"needs {' and '.join(missing)}, Debian packages")
    if os.geteuid():
        pytest.skip("needs root")
    if sys.version_info[:2] != (3, 11):
        pytest.skip("fetches wheels for the Python of the image: needs Python 3.11")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        builder = Builder(Path(folder))
        base(builder)
        fetched = wheels(builder.folder)
        mounts = [
            "-v",
            f"{fetched}/pip.conf:/etc/pip.conf:ro",
            "-v",
            f"{fetched}/wheels:/wheels:ro",
        ]
        options = ["--format", "docker", "--isolation", "chroot", "--pull-never", "--layers=false"]
        arguments = ["--build-arg", f"BASE={_BASE}", "-t", _NAME, str(ROOT)]
        builder("bud", *options, *mounts, *arguments)
        yield builder


@dataclass
class Container:
    """The image with a volume."""

    build: Builder
    name: str
    root: Path
    volume: Path

    @contextmanager
    def serving(self) -> Iterator[str]:
        """What the image starts, on a free port of loopback; stopped as Docker stops it."""
        port = free_port()
        settings = [f"ASSISTANT_PORT={port}", "ASSISTANT_HOST=127.0.0.1"]
        options = [option for setting in settings for option in ("--env", setting)]
        volume = ("--volume", f"{self.volume}:/data")
        command = configuration(self.build)["Cmd"]
        started = self.build.run(self.name, *command, options=(*options, *volume))
        with (self.volume.parent / "log").open("ab") as log:
            process = subprocess.Popen(started, stdout=log, stderr=log)
        url = f"http://127.0.0.1:{port}"
        try:
            wait_for(url, process)
            yield url
        finally:
            inside = serving_process(process.pid)
            assert process_user(inside) == _USER
            os.kill(inside, signal.SIGTERM)
            assert process.wait(60) == 0


def configuration(build: Builder) -> dict[str, object]:
    inspected = json.loads(build("inspect", "--type", "image", _NAME))
    found: dict[str, object] = inspected["Docker"]["config"]
    return found


def wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            httpx.get(f"{url}/health").raise_for_status()
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise RuntimeError("the image did not start")


def serving_process(ancestor: int) -> int:
    """The process at the end of the chain below this one: all others are buildah's."""
    threads = Path(f"/proc/{ancestor}/task").iterdir()
    children = " ".join((thread / "children").read_text() for thread in threads).split()
    return serving_process(int(children[0])) if children else ancestor


def process_user(process: int) -> int:
    return Path(f"/proc/{process}").stat().st_uid


@pytest.fixture(scope="module")
def container(build: Builder) -> Container:
    """One for all tests: this store copies the image for each."""
    name = build("from", "--pull-never", _NAME)
    # Otherwise buildah mounts a volume of its own over ours.
    build("config", "--volume", "/data-", name)
    volume = build.folder / "volume"
    volume.mkdir()
    os.chown(volume, _USER, _USER)
    return Container(build, name, Path(build("mount", name)), volume)


def say(url: str, text: str, session: str) -> str:
    body = {
        "messages": [{"role": "user", "content": text}],
        "metadata": {"user_id": "ann", "session_id": session},
    }
    reply = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60)
    reply.raise_for_status()
    return str(reply.json()["choices"][0]["message"]["content"])


def written(root: Path, since: float) -> list[Path]:
    """The files of a tree that were changed since then."""
    found = (Path(folder, name) for folder, _, names in os.walk(root) for name in names)
    return [one for one in found if one.lstat().st_ctime > since]


def test_it_remembers_over_a_restart_and_writes_to_its_volume_alone(container: Container) -> None:
    before = time.time()
    started = time.monotonic()
    with container.serving() as url:
        say(url, "I adopted a cat called Miso.", "first")
        print(f"first answer after {time.monotonic() - started:.1f} s")
    with container.serving() as url:
        assert "Miso" in say(url, "What is my cat called?", "second")
    assert [one for one in container.volume.rglob("*") if one.lstat().st_uid != _USER] == []
    assert written(container.volume, before)
    # What buildah itself puts there for a run.
    own = {"hosts", "resolv.conf", ".containerenv"}
    elsewhere = [one for one in written(container.root, before) if one.name not in own]
    assert [one for one in elsewhere if container.root / "tmp" not in one.parents] == []


def test_its_health_is_that_of_the_server(container: Container) -> None:
    check = configuration(container.build)["Healthcheck"]
    assert isinstance(check, dict)
    assert check["Test"][0] == "CMD"
    port = f"ASSISTANT_PORT={free_port()}"
    asking = container.build.run(container.name, *check["Test"][1:], options=("--env", port))
    assert subprocess.run(asking, capture_output=True).returncode != 0
    with container.serving() as url:
        options = ("--env", f"ASSISTANT_PORT={url.rsplit(':', 1)[1]}")
        run(*container.build.run(container.name, *check["Test"][1:], options=options))


def test_it_holds_the_assistant_and_nothing_else(container: Container) -> None:
    assert configuration(container.build)["User"] == f"{_USER}:{_USER}"
    names = {one.name for one in of_tree(container.root / "venv")}
    assert names == image_packages() | {"aide-memoire"}
    assert {
        one.name for one in (container.root / "venv/bin").iterdir() if not one.is_symlink()
    } == {"assistant"}
    assert {"libc6", "python3"} <= {one.name for one in of_tree(container.root)}
    for module in ("pip", "setuptools", "harness", "scipy", "torch"):
        asked = container.build.run(container.name, "python", "-c", f"import {module}")
        assert subprocess.run(asked, capture_output=True).returncode != 0, module
    listed = json.loads(container.build("images", "--json", _NAME))
    size = sum(one.stat().st_size for one in (container.root / "venv").rglob("*") if one.is_file())
    print(f"venv {size / 1e6:.0f} MB of {listed[0]['size']}")
    assert size < _MOST_BYTES


def test_a_start_compiles_nothing(container: Container) -> None:
    program = "import assistant.app, onnxruntime"
    asked = container.build.run(container.name, "python", "-v", "-c", program)
    told = subprocess.run(asked, capture_output=True, text=True).stderr
    # Bytecode that is used is named with quotes, a source that is compiled without.
    assert "code object from '/venv/" in told
    assert "code object from /venv/" not in told


def test_another_embedding_model_is_refused_with_what_helps(container: Container) -> None:
    options = ("--env", "ASSISTANT_EMBEDDER=another-model")
    asked = container.build.run(container.name, "assistant", "check", options=options)
    ended = subprocess.run(asked, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "aide-memoire[embedders]" in ended.stdout + ended.stderr
