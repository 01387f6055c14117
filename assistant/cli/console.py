"""The terminal: printing without markup, progress, asking yes or no, an editor for longer texts;
and the files that commands read and write."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from assistant.errors import AssistantError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from memory_store.transfer import Progress as ProgressOfRounds

# C0 without tab and newline, delete, C1; and characters that turn the direction of writing.
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text without characters that would control a terminal."""
    return _UNSHOWN.sub("", text)


def one_line(text: str) -> str:
    return " ".join(plain(text).split())


def shortened(text: str, most: int) -> str:
    """At most so many characters of a text, cut between words where it has any."""
    if len(text) <= most:
        return text
    words, _, _ = text[: most + 1].rpartition(" ")
    return f"{words.rstrip() or text[:most]} …"


def in_prose(time: str) -> str:
    """The day of a time as people write it: 1 March 2024."""
    day = date.fromisoformat(time[: len(date.min.isoformat())])
    return f"{day.day} {day:%B %Y}"


def memory_count(count: int) -> str:
    return f"{count} memory" if count == 1 else f"{count} memories"


def new_console(*, stderr: bool = False) -> "Console":
    """The terminal, or the pipe in its place."""
    # Here, because rich takes long to import, and some commands print nothing by it.
    from rich.console import Console

    return Console(stderr=stderr)


def say(console: "Console", text: str, style: str | None = None) -> None:
    """Print text as it is: no markup, no colours of its own, no breaking in a pipe."""
    if console.is_terminal:
        console.print(plain(text), style=style, markup=False, highlight=False)
    else:
        console.file.write(f"{plain(text)}\n")


class _ShownProgress:
    """Bars on a terminal; elsewhere a line when a step begins, after about each tenth of it, and at
    its end."""

    def __init__(self, console: "Console", bars: "Progress") -> None:
        self._console, self._bars = console, bars
        self._next_line = 0

    def begin(self, step: str, rounds: int) -> None:
        self._step = self._bars.add_task(step, total=rounds)
        self._say(0, step, rounds)

    def advance(self, rounds: int) -> None:
        self._bars.advance(self._step, rounds)
        task = self._bars.tasks[-1]
        done, total = int(task.completed), int(task.total or 0)
        if rounds and (done >= self._next_line or done == total):
            self._say(done, task.description, total)

    def _say(self, done: int, step: str, total: int) -> None:
        self._next_line = done + max(1, total // 10)
        if self._bars.disable:
            text = f"{step}: {done} of {total} memories"
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def shown_progress(console: "Console") -> "Iterator[ProgressOfRounds]":
    """Shows how far a long command is while the context is open; nothing on a quiet console."""
    # Most commands show no progress, and importing this takes time.
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("memories"),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
    is_drawn = console.is_terminal and not console.quiet
    with progress.Progress(*columns, console=console, disable=not is_drawn) as bars:
        yield _ShownProgress(console, bars)


def confirmed(question: str, command: str = "memories forget") -> bool:
    """Ask on the terminal; any answer but yes is no. Where nobody can be asked, raises
    `AssistantError`, which names the command that takes --yes."""
    if not sys.stdin.isatty():
        raise AssistantError(
            f"{plain(question)} Cannot ask in a pipe: use 'assistant {command}' with --yes"
        )
    try:
        return input(f"{plain(question)} [y/N] ").strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        print()
        return False


def edited(text: str) -> str:
    """The text as the user left it in `$VISUAL` or `$EDITOR`. Raises where there is no editor."""
    is_named = any(os.environ.get(name) for name in ("VISUAL", "EDITOR"))
    if not is_named and not sys.stdin.isatty():
        raise AssistantError("cannot open an editor in a pipe: use --text")
    try:
        after = click.edit(text)
    except click.ClickException as error:
        raise AssistantError(f"{error.message}: nothing was changed") from error
    return text if after is None else after.rstrip("\n")


STANDARD = Path("-")
"""Names standard input and output."""


def read_export(file: Path) -> bytes:
    """The text of a file, or of standard input (`-`)."""
    try:
        return sys.stdin.buffer.read() if file == STANDARD else file.read_bytes()
    except OSError as error:
        raise AssistantError(f"cannot read {file}: {error.strerror or error}") from error


@contextmanager
def new_file(file: Path) -> Iterator[TextIO]:
    """Open a file to write, which is there once all of it is written. None that exists is
    replaced."""
    if file.exists():
        raise AssistantError(f"{file} exists already: name another file")
    part = file.with_name(f"{file.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as out:
            yield out
        part.replace(file)
    except OSError as error:
        raise AssistantError(f"cannot write {file}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
