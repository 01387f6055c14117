"""A replay: identify the assistant, probe it, then tell it histories and ask their unfinished
questions, all through one mode. Histories run concurrently, a replay can be resumed, and a failure
fails only its question or history.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from harness.assistants.add_search import require_store
from harness.assistants.client import identify
from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.datasets.questions import Question, digest_of
from harness.errors import (
    AssistantError,
    AssistantTimeout,
    AssistantUnreachable,
    TooManyErrors,
    UsageError,
    continuable,
    first_raised,
)
from harness.judges import Judge
from harness.metrics.conduct import may_search
from harness.pipeline.judging import meters_of
from harness.pipeline.probing import probe_assistant
from harness.pipeline.progress import ReplayProgress
from harness.pipeline.run import CONTINUE, Run
from harness.records.manifest import account_of, now
from harness.records.run_dir import FAILURES, HYPOTHESES, INGEST, QUESTIONS, RETRIEVAL
from harness.records.schema import FailureLine
from harness.replay.chat_mode import Attempts
from harness.replay.ingest import Blinding
from harness.replay.mode import ReplayMode
from harness.replay.modes import Approach, ModeContext, make_mode
from harness.spending import Meter, SpendingLimits

# The share of failures among fewer questions says too little about the rest.
ENOUGH = 10


# Whether histories are deleted from the assistant: each after its questions, or all of them once no
# question of the run is left, so that sessions that histories share are embedded only once.
Forgetting = Literal["never", "at once", "at the end"]


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How a replay is made; `ask` is off when only retrieval is wanted, `probe` on when the
    assistant is first tried with a history of the harness's own.
    """

    ask: bool = True
    concurrency: int = 2
    barrier_seconds: float = 60.0
    forget: Forgetting = "never"
    probe: bool = False
    retry_errors: bool = False
    max_error_rate: float | None = None
    limits: SpendingLimits = field(default_factory=SpendingLimits)


class HistoryReplay:
    def __init__(
        self,
        run: Run,
        mode: ReplayMode,
        options: ReplayOptions,
        transport: Transport,
        meter: Meter,
        progress: ReplayProgress,
    ) -> None:
        self._run = run
        self._mode = mode
        self._options = options
        self._transport = transport
        self._meter = meter
        self._progress = progress
        self._errors = ErrorRate(options.max_error_rate)
        self._ingested = set(run.histories_kept())
        self._searched = set(run.dir.by_question(RETRIEVAL))
        outlines = run.dir.by_question(QUESTIONS).items()
        self._read = {name for name, line in outlines if line["is_read"]}
        self._turn = asyncio.Lock()

    async def all(self, histories: Iterator[list[Question]]) -> int:
        """Replay all; returns how many questions failed. Raises when going on makes no sense."""
        async with asyncio.TaskGroup() as workers:
            tasks = [
                workers.create_task(self._work(histories)) for _ in range(self._options.concurrency)
            ]
        return sum(task.result() for task in tasks)

    def tick(self) -> None:
        """Bring requests and spending up to date in the manifest."""
        account = account_of([self._meter])
        account["requests"] = self._transport.traffic.to_json()
        account["narrowest_pace"] = self._transport.narrowest
        self._run.manifest.tick(**account)

    async def _work(self, histories: Iterator[list[Question]]) -> int:
        failed = 0
        while questions := await self._next(histories):
            self._complete_lines(questions)
            # Where asking leaves traces in memory, every question gets a history of its own.
            shared = self._mode.shares_histories
            alone = ([replace(question, shared_history=None)] for question in questions)
            for history in [questions] if shared else alone:
                failed += await self._history(history)
        return failed

    async def _next(self, histories: Iterator[list[Question]]) -> list[Question] | None:
        """The questions of the next history, read outside the event loop; None after the last."""
        async with self._turn:
            return await asyncio.to_thread(next, histories, None)

    def _complete_lines(self, questions: Sequence[Question]) -> None:
        for question in questions:
            if question.question_id not in self._read:
                self._read.add(question.question_id)
                self._run.dir.append(QUESTIONS, digest_of(question).to_json())

    async def _history(self, questions: Sequence[Question]) -> int:
        """One history and all its questions; returns how many failed."""
        try:
            await self._ingest(questions[0])
        except AssistantError as error:
            for question in questions:
                self._failed(question, error)
            await self._require_alive(error)
            return len(questions)
        failed = 0
        for question in questions:
            failed += await self._question(question)
        if self._options.forget == "at once":
            failed += await self._forget(questions[0])
        return failed

    async def forget_all(self) -> None:
        """Delete every history of the run, also those that earlier commands brought in."""
        run = self._run
        last = max(line["question_date"] for line in run.dir.by_question(QUESTIONS).values())
        try:
            for history_id in run.histories_kept():
                await self._mode.forget(history_id, datetime.fromisoformat(last))
        except AssistantError as error:
            run.console.print(f"not all histories could be deleted: {error}", highlight=False)
            return
        run.manifest.set_forgotten(True)

    async def _ingest(self, question: Question) -> None:
        if question.history_id in self._ingested and await self._mode.is_ingested(question):
            return
        line = await self._mode.ingest(question)
        if line is not None:
            self._run.dir.append(INGEST, line)
            self.tick()

    async def _question(self, question: Question) -> bool:
        """Ask one question and append its lines; returns whether it failed."""
        try:
            if self._mode.searches and question.question_id not in self._searched:
                self._run.dir.append(RETRIEVAL, await self._mode.retrieve(question))
            if self._options.ask:
                asked = await self._mode.ask(question)
                if asked.retrieval is not None:
                    self._run.dir.append(RETRIEVAL, asked.retrieval)
                self._run.dir.append(HYPOTHESES, asked.hypothesis)
                self._progress.answered(digest_of(question), asked.hypothesis["hypothesis"])
        except AssistantError as error:
            self._failed(question, error)
            await self._require_alive(error)
            return True
        self._ended(question, None)
        return False

    async def _forget(self, question: Question) -> bool:
        try:
            await self._mode.forget(question.history_id, question.question_date)
        except AssistantError as error:
            self._run.dir.append(FAILURES, _failure_record(question, error))
            return True
        return False

    def _failed(self, question: Question, error: AssistantError) -> None:
        self._run.dir.append(FAILURES, _failure_record(question, error))
        self._ended(question, str(error))

    def _ended(self, question: Question, problem: str | None) -> None:
        self._progress.question_ended(question.question_id, problem)
        self.tick()
        self._errors.ended(problem)

    async def _require_alive(self, error: AssistantError) -> None:
        """After a timeout: stop the run if the assistant answers nothing at all."""
        if isinstance(error, AssistantTimeout) and not await self._transport.is_alive():
            raise AssistantUnreachable(f"the assistant no longer answers: {error}") from error


class ErrorRate:
    """Stops a run when a larger share of its questions than `limit` failed in this command."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._ended = 0
        self._problems: Counter[str] = Counter()

    def ended(self, problem: str | None) -> None:
        """Count a question that ended, with a problem or none; `TooManyErrors` over the limit."""
        self._ended += 1
        if problem is not None:
            self._problems[problem] += 1
        failed = self._problems.total()
        if self._limit is None or self._ended < ENOUGH or failed <= self._limit * self._ended:
            return
        reason, times = self._problems.most_common(1)[0]
        raise TooManyErrors(
            f"stopped: {failed} of {self._ended} questions failed, more than --max-error-rate "
            f"{self._limit:g} allows. Most often ({times} times): {reason}. Nothing finished is "
            "lost: the same command continues, --retry-errors tries the failed ones alone."
        )


def _failure_record(question: Question, error: AssistantError) -> FailureLine:
    return {
        "question_id": question.question_id,
        "error": type(error).__name__,
        "route": error.route,
        "status": error.status,
        "message": str(error),
        "at": now(),
    }


def replay_run(
    run: Run,
    endpoint: Endpoint,
    approach: Approach,
    options: ReplayOptions,
    judges: Sequence[Judge | None] = (),
) -> int:
    """Replay what is unfinished; returns how many questions failed now. The `judges` that come
    later are paid from the same budget.
    """
    with run.dir.owned(), continuable(CONTINUE), run.manifest.ending():
        return _Command(run, endpoint, approach, options).replay(meters_of(judges))


@dataclass(frozen=True, slots=True)
class _Command:
    run: Run
    endpoint: Endpoint
    approach: Approach
    options: ReplayOptions

    def replay(self, judges: Sequence[Meter]) -> int:
        run, options = self.run, self.options
        if not options.ask and not self.approach.searches:
            raise UsageError("retrieval needs --mode native and an assistant with our own routes")
        if options.ask and self.approach.profile.is_store and self.approach.reader is None:
            raise UsageError(
                "a store answers nothing: name a model with --reader MODEL@BASE_URL, or use "
                "harness retrieval"
            )
        meter = Meter("assistant", self.approach.profile.price)
        run.limit_spending(options.limits, [meter, *judges])
        self._identify()
        is_wanted = self._unfinished()
        wanted = total = None  # not known yet
        if run.is_settled:
            wanted = sum(is_wanted(q.question_id) for q in run.selected)
            total = len(run.selected)
        stage = "replay" if options.ask else "retrieval"
        run.manifest.begin(stage, questions=wanted, concurrency=options.concurrency)
        if wanted == 0:
            return 0
        run.manifest.set_forgotten(False)
        done = 0 if wanted is None else (total or 0) - wanted
        with first_raised(), run.progress(total, done) as progress:
            return asyncio.run(self._histories(meter, run.histories(is_wanted), progress))

    def _identify(self) -> None:
        approach, manifest = self.approach, self.run.manifest
        if approach.guesses:
            manifest.require_mode(approach.mode, approach.identity)
            return
        ours, remembers = approach.profile.is_ours, approach.uses_memory
        assistant = asyncio.run(identify(self.endpoint, is_ours=ours, needs_memory=remembers))
        if approach.profile.is_store:
            asyncio.run(require_store(self.endpoint))
        manifest.require_mode(approach.mode, approach.identity)
        manifest.require_assistant(assistant)
        manifest.set_price(approach.profile.price)

    def _unfinished(self) -> Callable[[str], bool]:
        """Return a test of question ids: whether a line of the question is still missing and, with
        `retry_errors`, whether the question has failed before.
        """
        lines = self.run.dir.by_question
        searched = [set(lines(RETRIEVAL))] if self.approach.searches else []
        answered = [set(lines(HYPOTHESES))] if self.options.ask else []
        done = set.intersection(*searched, *answered)
        failed = set(lines(FAILURES)) if self.options.retry_errors else None
        return lambda name: name not in done and (failed is None or name in failed)

    async def _histories(
        self, meter: Meter, histories: Iterator[list[Question]], progress: ReplayProgress
    ) -> int:
        run, options = self.run, self.options
        async with (
            Transport(self.endpoint, concurrency=options.concurrency) as transport,
            self._reader() as reader,
        ):
            blinding, attempts = Blinding(run.manifest.salt), Attempts(run.dir)
            on_round, patience = progress.round_stored, options.barrier_seconds
            explained = may_search(run.manifest.data["assistant"])
            seed = run.manifest.data["filters"]["seed"]
            around = ModeContext(
                transport, blinding, attempts, meter, patience, on_round, explained, seed, reader
            )
            mode = make_mode(self.approach, around)
            replay = HistoryReplay(run, mode, options, transport, meter, progress)
            tries = options.probe and self.approach.uses_memory
            try:
                if tries and "failed" in run.manifest.data.get("probes", {"failed": ""}):
                    run.manifest.set_probes(await probe_assistant(mode, run.manifest.salt))
                async with asyncio.TaskGroup() as group:
                    group.create_task(_settle(run, progress))
                    replayed = group.create_task(replay.all(histories))
                failed = replayed.result()
                if options.forget == "at the end" and not failed:
                    await replay.forget_all()
                return failed
            finally:
                replay.tick()

    def _reader(self) -> AbstractAsyncContextManager[Transport | None]:
        reader = self.approach.reader
        if reader is None:
            return nullcontext()
        return Transport(reader, concurrency=self.options.concurrency)


async def _settle(run: Run, progress: ReplayProgress) -> None:
    """Finish the selection while histories are replayed; an error in it ends the run."""
    if not run.is_settled:
        # Waits until all outlines are found; an error in finding them is raised here.
        await asyncio.to_thread(lambda: run.dataset.outlines)
        progress.total_known(len(run.settle_selection()))
