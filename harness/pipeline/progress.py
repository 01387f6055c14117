"""Telling a person how far a replay is: a bar on a terminal, plain lines elsewhere."""

import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from harness.datasets.questions import LOCOMO_PLUS_RELATIONS
from harness.judges.lexical.judge import decide, shipped_weights
from harness.judges.rubric_lexical import score
from harness.records.digest import QuestionDigest


class RunningAccuracy:
    """The share of right answers so far by the lexical judges, whatever judge comes later: an
    indication that is stored nowhere. Questions for which they have no rule are not counted.
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


class ReplayProgress:
    """Is told of every stored round and every question that ended, and prints a line for each
    question; `finished` of `total` questions were done before.
    """

    def __init__(self, console: Console, *, total: int | None, finished: int) -> None:
        self._console = console
        self._total = total
        self._finished = finished
        self._rounds = 0
        self._accuracy = RunningAccuracy()
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def round_stored(self) -> None:
        """One more round is in the assistant."""
        self._rounds += 1
        self._refresh()

    def total_known(self, total: int) -> None:
        """Note how many questions there are in all."""
        self._total = total
        self._refresh()

    def answered(self, question: QuestionDigest, hypothesis: str) -> None:
        """A question was answered; its end follows."""
        self._accuracy.answered(question, hypothesis)
        self._refresh()

    def question_ended(self, question_id: str, problem: str | None) -> None:
        """A question is finished, or failed with `problem`."""
        self._finished += 1
        rate = f"{self._rate():.0f} rounds/s"
        outcome = f"FAILED {problem}" if problem else "ok"
        so_far = ", ".join(part for part in (rate, str(self._accuracy)) if part)
        self._say(f"[{self._finished}/{self._total or '?'}] {question_id} {outcome} ({so_far})")

    def _rate(self) -> float:
        return self._rounds / max(time.monotonic() - self._started, 1e-6)

    def _begin(self) -> None:
        if self._finished:
            self._say(f"{self._finished} of {self._total} questions are already done")

    def _end(self) -> None:
        pass

    def _refresh(self) -> None:
        pass

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class BarProgress(ReplayProgress):
    """A bar with questions, rounds per second and the time left."""

    def __init__(self, console: Console, *, total: int | None, finished: int) -> None:
        super().__init__(console, total=total, finished=finished)
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

    def question_ended(self, question_id: str, problem: str | None) -> None:
        """Move the bar; a failure is also printed above it."""
        if problem:
            self._bar.console.print(f"{question_id} FAILED {problem}", markup=False)
        self._bar.advance(self._task)

    def _begin(self) -> None:
        self._bar.start()

    def _end(self) -> None:
        self._bar.stop()

    def _refresh(self) -> None:
        said = str(self._accuracy)
        self._bar.update(self._task, total=self._total, rate=self._rate(), accuracy=said)


def make_progress(console: Console, *, total: int | None, finished: int) -> ReplayProgress:
    """A bar if the console is a terminal, else lines; `total` None where it becomes known later."""
    kind = BarProgress if console.is_terminal else ReplayProgress
    return kind(console, total=total, finished=finished)
