"""`assistant serve` as a process: its first line, its end, and starts that cannot work."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from in_process import Run

COMMAND = (sys.executable, "-c", "from assistant.cli import main; main()", "serve")
_SECONDS = 30


@contextmanager
def serving(data_dir: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """The server as a process; killed at the end if it still runs."""
    with subprocess.Popen(
        [*COMMAND, "--port", "0", "--data-dir", str(data_dir), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"ASSISTANT_EMBEDDER": "hash"},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """The line the server prints when it listens, and the URL in it."""
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://([\d.]+|\[::1\]):\d+", line)
    assert found, line
    return line, found[0]


def test_it_says_what_it_runs_and_ends_when_told(tmp_path: Path) -> None:
    with serving(tmp_path) as process:
        line, url = first_line(process)
        assert str(tmp_path) in line
        assert "hash (no understanding: for tests only)" in line
        assert "quotes from memory" in line
        assert httpx.get(f"{url}/ready").status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(_SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == f"starting: opening the memory in {tmp_path} …\n"


def test_the_address_is_a_url_in_ipv6_too(tmp_path: Path) -> None:
    try:
        with socket.socket(socket.AF_INET6) as loopback:
            loopback.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with serving(tmp_path, "--host", "::1") as process:
        assert httpx.get(f"{first_line(process)[1]}/health").status_code == 200


Refused = Callable[..., str]


@pytest.fixture
def refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Refused:
    """Starts what cannot work: what its last line says, with exit code 2."""
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")

    def start(*arguments: str) -> str:
        done = run("serve", "--port", "0", "--data-dir", tmp_path, *arguments)
        assert (done.code, done.out) == (2, "")
        *starting, err = done.err.splitlines()
        assert all(line.startswith("starting: ") for line in starting)
        assert err.startswith("assistant: ")
        return err

    return start


def test_a_taken_port(refused: Refused) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = refused("--port", port)
    assert f"127.0.0.1:{port}" in said
    assert "another --port" in said


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--host", "no..such.host"), "no..such.host"),
        (("--host", "[::1]"), "cannot listen on [::1]"),
    ],
)
def test_a_wrong_address(refused: Refused, arguments: tuple[str, ...], named: str) -> None:
    assert named in refused(*arguments)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--port", "70000"), "port"),
        (("--config", "nowhere.toml"), "nowhere.toml"),
        (("--config", "mine.toml"), "prot"),
    ],
)
def test_a_wrong_setting(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text("prot = 8080\n")
    done = run("serve", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("assistant: ")
    assert (done.err.count("\n"), named in done.err) == (1, True)
