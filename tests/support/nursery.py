"""The two command lines as processes that do not have to import everything first.

A process that has imported them forks a new one for each call: importing takes longer than most of
what tests do with a process. All else is as if it were started anew: arguments, environment,
folder, streams, signals, exit code. What is under test when a process starts (its imports, its
workers) is started with `subprocess`.
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

_BIN = Path(sys.executable).parent
_MAINS = {"assistant": "assistant.cli", "harness": "harness.cli.main"}
_IMPORTED = ("harness.cli.run_commands", "assistant.serving.serve", "uvloop", "httptools")
_STAND_IN = Path(__file__).with_name("stand_in.py")
_MOST_BYTES = 1 << 20
_ANSWER_SECONDS = 60.0


class Process:
    """A process of a command line, as `subprocess.Popen` has one."""

    def __init__(self, told: socket.socket, stdout: IO[str] | None) -> None:
        self._told = told
        self.stdout = stdout
        self.returncode: int | None = None
        told.settimeout(_ANSWER_SECONDS)
        self.pid = int(told.recv(32))

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; its exit code."""
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                self.returncode = int(self._told.recv(32))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0) from None
            self._told.close()
        return self.returncode

    def send_signal(self, which: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, which)

    def kill(self) -> None:
        """End it without warning."""
        self.send_signal(signal.SIGKILL)


class Nursery:
    """Starts processes of the command lines; threads may share it."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._started: list[Process] = []
        self._parent: subprocess.Popen[bytes] | None = None
        self._asking: socket.socket | None = None
        self._address = ""

    def start(
        self,
        arguments: Sequence[object],
        *,
        env: Mapping[str, str] | None = None,
        stdout: IO[Any] | int = subprocess.DEVNULL,
        stderr: IO[Any] | int | None = None,
    ) -> Process:
        """Start `assistant` or `harness` with arguments. The output can be a pipe; errors go where
        those of this process go, unless they are said to go elsewhere."""
        reading = None
        with self._one_at_a_time, open(os.devnull, "r+b") as nothing:
            out = nothing.fileno() if stdout == subprocess.DEVNULL else _number(stdout)
            err = nothing.fileno() if stderr == subprocess.DEVNULL else _number(stderr, 2)
            if stdout == subprocess.PIPE:
                read, out = os.pipe()
                reading = open(read)  # noqa: SIM115
            told, telling = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with telling:
                wanted = {
                    "arguments": [str(one) for one in arguments],
                    "env": dict(os.environ if env is None else env),
                    "folder": os.getcwd(),
                }
                files = [nothing.fileno(), out, err, telling.fileno()]
                socket.send_fds(self._opened(), [json.dumps(wanted).encode()], files)
            if stdout == subprocess.PIPE:
                os.close(out)
        process = Process(told, reading)
        self._started.append(process)
        return process

    def command(self, *arguments: object) -> list[str]:
        """A command for those who start a process themselves: it asks for one here, has its output
        and its exit code, and ends it when it is told to end."""
        self._opened()
        asked = (sys.executable, "-S", "-E", _STAND_IN, self._address, *arguments)
        return [str(one) for one in asked]

    def _opened(self) -> socket.socket:
        if self._asking is None:
            self._asking, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            for one in (self._asking, theirs):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MOST_BYTES)
            self._folder = tempfile.TemporaryDirectory()
            self._address = f"{self._folder.name}/socket"
            with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as open_to_all:
                open_to_all.bind(self._address)
                open_to_all.listen()
                numbers = [theirs.fileno(), open_to_all.fileno()]
                command = [sys.executable, __file__, *map(str, numbers)]
                self._parent = subprocess.Popen(command, pass_fds=numbers)
        return self._asking

    def close(self) -> None:
        """End the process that forks, and those of its processes that a test left behind."""
        for process in self._started:
            process.kill()
        if self._asking and self._parent:
            self._asking.close()
            self._parent.wait()
            self._asking = self._parent = None
            self._folder.cleanup()


NURSERY = Nursery()
"""One for all tests of this process; `conftest.py` closes it."""


def _number(stream: IO[Any] | int | None, otherwise: int = 1) -> int:
    return otherwise if stream is None or isinstance(stream, int) else stream.fileno()


def _fork_when_asked(asking: socket.socket, open_to_all: socket.socket) -> str | None:
    """In the process that forks: None, when nobody asks any more. In a forked one: the name of the
    command line to be."""
    # Ctrl-C goes to all processes of a terminal; this one ends with the tests.
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        wanted, files = _asked(asking, open_to_all)
        if not wanted:
            return None
        if not _forked():
            asking.close()
            open_to_all.close()
            if _is_program(files[-1]):
                signal.signal(signal.SIGINT, interrupted)
                return _become(json.loads(wanted), files)
        for one in files:
            os.close(one)
        _wait_for_ended(os.WNOHANG)


def _asked(asking: socket.socket, open_to_all: socket.socket) -> tuple[bytes, list[int]]:
    """What is to be started, and its streams, the last of which is told of its end."""
    ready, _, _ = select.select([asking, open_to_all], [], [])
    if asking in ready:
        wanted, files, _, _ = socket.recv_fds(asking, _MOST_BYTES, 4)
        return wanted, files
    somebody, _ = open_to_all.accept()
    wanted, files, _, _ = socket.recv_fds(somebody, _MOST_BYTES, 3)
    return wanted, [*files, somebody.detach()]


def _forked() -> int:
    with warnings.catch_warnings():
        # Of threads, which the libraries that have some start again.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _is_program(telling: int) -> bool:
    """Fork again: true in the program. The other tells its id and how it ends, and then ends."""
    if not (program := _forked()):
        return True
    os.write(telling, str(program).encode())
    _, status = os.waitpid(program, 0)
    with suppress(OSError):  # whoever asked may have gone
        os.write(telling, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(wanted: dict[str, Any], files: list[int]) -> str:
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    time.tzset()
    name, *more = wanted["arguments"]
    sys.argv = [str(_BIN / name), *more]
    return str(name)


def _wait_for_ended(how: int) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, how)[0]:
            pass


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, of which no command knows
    for module in (*_MAINS.values(), *_IMPORTED):
        import_module(module)
    gc.freeze()  # what they share is not looked at, nor copied
    if command := _fork_when_asked(*(socket.socket(fileno=int(one)) for one in sys.argv[1:])):
        import_module(_MAINS[command]).main()
    else:
        _wait_for_ended(0)
