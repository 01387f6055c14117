"""Assistants that can be restarted: one that is running already, or one of our own starting."""

import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.assistants.endpoint import Endpoint
from harness.assistants.own_server import LOG, own_server
from harness.errors import UsageError


@dataclass(frozen=True, slots=True)
class RunningAssistant:
    """One that is there; `restart_command` restarts it and returns when that is done."""

    endpoint: Endpoint
    restart_command: str | None = None

    @property
    def can_restart(self) -> bool:
        """Whether there is such a command."""
        return self.restart_command is not None

    def restart(self) -> None:
        """Run the command; `UsageError` where it fails."""
        arguments = shlex.split(self.restart_command or "")
        try:
            ended = subprocess.run(arguments, capture_output=True, text=True, check=False)
        except OSError as error:
            raise UsageError(f"--restart {self.restart_command!r}: {error}") from error
        if ended.returncode:
            said = (ended.stderr or ended.stdout).strip()
            raise UsageError(
                f"--restart {self.restart_command!r}: exit code {ended.returncode}: {said}"
            )


class StartedAssistant:
    """A server of our own on one folder; after a restart it listens on another port."""

    can_restart = True

    def __init__(self, start: Callable[[], str], stop: Callable[[], None], like: Endpoint) -> None:
        self._start = start
        self._stop = stop
        self.endpoint = replace(like, url=start())

    def restart(self) -> None:
        """Stop it, then start it on the same folder."""
        self._stop()
        self.endpoint = replace(self.endpoint, url=self._start())


@contextmanager
def started(
    command: str, data_dir: Path, out: Path, ready_seconds: float, like: Endpoint
) -> Iterator[StartedAssistant]:
    """A server for as long as it is needed; its log is kept in `out`."""
    with ExitStack() as running:

        def start() -> str:
            return running.enter_context(own_server(command, data_dir, out / LOG, ready_seconds))

        yield StartedAssistant(start, running.close, like)
