"""How far a long command is: a bar on a terminal, plain lines elsewhere. On standard error."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

if TYPE_CHECKING:
    from memory_store.transfer import Progress

# About how many lines a step gets.
_LINES = 10


@contextmanager
def shown_progress(console: Console) -> Iterator["Progress"]:
    """Shows progress while the context is open."""
    if not console.is_terminal:
        yield LineProgress(console)
        return
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("memories"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
    with bar:
        yield BarProgress(bar)


class NoProgress:
    """Shows nothing."""

    def begin(self, step: str, rounds: int) -> None:
        """Nothing."""

    def advance(self, rounds: int) -> None:
        """Nothing."""


class LineProgress:
    """A line when a step begins, after about each tenth of it, and at its end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._step = ""
        self._done = self._rounds = self._next = 0

    def begin(self, step: str, rounds: int) -> None:
        """Say that it begins."""
        self._step, self._rounds, self._done = step, rounds, 0
        self._next = self._after(0)
        self._say()

    def advance(self, rounds: int) -> None:
        """Say how far it is, now and then."""
        self._done += rounds
        if rounds and (self._done >= self._next or self._done == self._rounds):
            self._next = self._after(self._done)
            self._say()

    def _after(self, done: int) -> int:
        return done + max(1, self._rounds // _LINES)

    def _say(self) -> None:
        text = f"{self._step}: {self._done} of {self._rounds} memories"
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class BarProgress:
    """A bar for each step."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._task: TaskID | None = None

    def begin(self, step: str, rounds: int) -> None:
        """A new bar."""
        self._task = self._bar.add_task(step, total=rounds)

    def advance(self, rounds: int) -> None:
        """The bar grows."""
        if self._task is not None:
            self._bar.advance(self._task, rounds)
