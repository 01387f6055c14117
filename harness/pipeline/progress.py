"""Telling a person how far a replay is: a bar on a terminal, plain lines elsewhere."""

import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from harness.datasets.questions import LOCOMO_PLUS_RELATIONS
from harness.judges.lexical.judge import decide, shipped_weights
from harness.judges.rubric_lexical import score
from harness.records.digest import QuestionDigest


class ReplayProgress(AbstractContextManager["ReplayProgress"], Protocol):
    """Hears of every stored round and every question that ended."""

    def round_stored(self) -> None:
        """One more round is in the assistant."""

    def question_ended(self, question_id: str, problem: str | None) -> None:
        """A question is finished, or failed with `problem`."""

    def answered(self, question: QuestionDigest, hypothesis: str) -> None:
        """A question was answered; its end follows."""

    def total_known(self, total: int) -> None:
        """Note how many questions there are in all."""


def make_progress(console: Console, *, total: int | None, finished: int) -> ReplayProgress:
    """A bar if the console is a terminal, else lines; `finished` of `total` were done before; None
    where the total becomes known later.
    """
    if console.is_terminal:
        return BarProgress(console, total=total, finished=finished)
    return LineProgress(console, total=total, finished=finished)


class RunningAccuracy:
    """Right and wrong answers so far by the lexical judges, whatever judge comes after; a mere
    indication that is written nowhere. What they have no rule for is not counted.
    """

    def __init__(self) -> None:
        self._weights = shipped_weights()
        self._right = 0
        self._judged = 0

    def answered(self, question: QuestionDigest, hypothesis: str) -> None:
        if question.question_type in LOCOMO_PLUS_RELATIONS:
            return
        self._judged += 1
        if question.rubric:
            self._right += score(question, hypothesis).verdict == "yes"
        else:
            self._right += decide(question, hypothesis, self._weights).passed

    def __str__(self) -> str:
        return f"{100 * self._right / self._judged:.0f} % right" if self._judged else ""


class _Counter:
    def __init__(self, total: int | None, finished: int) -> None:
        self.total = total
        self.finished = finished
        self.rounds = 0
        self.accuracy = RunningAccuracy()
        self._started = time.monotonic()

    def rounds_per_second(self) -> float:
        return self.rounds / max(time.monotonic() - self._started, 1e-6)


class LineProgress:
    """One line for each question that ends."""

    def __init__(self, console: Console, *, total: int | None, finished: int) -> None:
        self._console = console
        self._count = _Counter(total, finished)

    def __enter__(self) -> Self:
        if self._count.finished:
            self._say(f"{self._count.finished} of {self._count.total} questions are already done")
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def round_stored(self) -> None:
        self._count.rounds += 1

    def total_known(self, total: int) -> None:
        self._count.total = total

    def answered(self, question: QuestionDigest, hypothesis: str) -> None:
        self._count.accuracy.answered(question, hypothesis)

    def question_ended(self, question_id: str, problem: str | None) -> None:
        self._count.finished += 1
        rate = f"{self._count.rounds_per_second():.0f} rounds/s"
        outcome = f"FAILED {problem}" if problem else "ok"
        so_far = ", ".join(part for part in (rate, str(self._count.accuracy)) if part)
        place = f"[{self._count.finished}/{self._count.total or '?'}]"
        self._say(f"{place} {question_id} {outcome} ({so_far})")

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class BarProgress:
    """A bar with questions, rounds per second and the time left."""

    def __init__(self, console: Console, *, total: int | None, finished: int) -> None:
        self._count = _Counter(total, finished)
        self._bar = Progress(
            TextColumn("replay"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]:.0f} rounds/s"),
            TextColumn("{task.fields[accuracy]}"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self._bar.add_task(
            "replay", total=total, completed=finished, rate=0.0, accuracy=""
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def round_stored(self) -> None:
        self._count.rounds += 1
        self._bar.update(self._task, rate=self._count.rounds_per_second())

    def total_known(self, total: int) -> None:
        self._bar.update(self._task, total=total)

    def answered(self, question: QuestionDigest, hypothesis: str) -> None:
        self._count.accuracy.answered(question, hypothesis)
        self._bar.update(self._task, accuracy=str(self._count.accuracy))

    def question_ended(self, question_id: str, problem: str | None) -> None:
        """Move the bar; a failure is also printed above it."""
        if problem:
            self._bar.console.print(f"{question_id} FAILED {problem}", markup=False)
        self._bar.advance(self._task)
