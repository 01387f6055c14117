"""All histories of a run through the assistant: concurrent across users, resumable, one failure at
a time.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from harness.assistants.client import AssistantClient
from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.datasets.questions import Question
from harness.errors import AssistantError, AssistantTimeout, AssistantUnreachable, UsageError
from harness.replay.limits import ErrorRate
from harness.replay.modes.choice import Approach
from harness.replay.modes.mode import Mode
from harness.runs.budget import Limits
from harness.runs.digest import QuestionDigest
from harness.runs.manifest import AssistantIdentity, Manifest
from harness.runs.run_dir import FAILURES, HYPOTHESES, INGEST, QUESTIONS, RETRIEVAL, RunDir

# How long a server may take to appear at the start, where nothing is at stake yet.
_FIRST_CONTACT_SECONDS = 3.0
_NOBODY = "nobody"
_STRANGER = (
    "the server at {url} is not this project's assistant ({found}). Any other "
    "OpenAI-compatible one is told histories by chat: --profile plain --mode teacher, or a profile "
    "of its own (docs/evaluate-your-assistant.md)"
)


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How a replay is made; `ask` is off when only retrieval is wanted, `probe` on when the
    assistant is first tried with a history of the harness's own.
    """

    ask: bool = True
    concurrency: int = 2
    barrier_seconds: float = 60.0
    forget: bool = False
    probe: bool = False
    retry_errors: bool = False
    max_error_rate: float | None = None
    limits: Limits = field(default_factory=Limits)


class Listener(Protocol):
    """Hears how every question ended."""

    def question_ended(self, question_id: str, problem: str | None) -> None:
        """A question is finished, or failed with `problem`."""

    def answered(self, question: QuestionDigest, hypothesis: str) -> None:
        """A question was answered."""


async def identify(endpoint: Endpoint, approach: Approach) -> AssistantIdentity:
    """First contact: what the assistant says it is. Any trouble here is raised at once, and a
    server without our routes refused where they are needed.
    """
    patience = min(endpoint.retry.reconnect_seconds, _FIRST_CONTACT_SECONDS)
    hasty = replace(endpoint, retry=replace(endpoint.retry, reconnect_seconds=patience, attempts=2))
    needs_ours = approach.profile.is_ours and approach.uses_memory
    async with Transport(hasty) as transport:
        client = AssistantClient(transport)
        try:
            version = await client.version()
            if needs_ours and "settings" not in (version or {}):
                await client.sessions(_NOBODY)  # others have a route of that name, too
        except AssistantError as error:
            if approach.profile.is_ours and (error.status or 0) >= 500:
                raise
            if needs_ours:
                message = _STRANGER.format(url=endpoint.public_url, found=error)
                raise UsageError(message) from error
            version = None  # somebody else's server may answer this route as it likes
    return AssistantIdentity(url=endpoint.public_url, model=endpoint.model, version=version)


def unfinished(
    run_dir: RunDir, *, ask: bool, search: bool, failed_only: bool = False
) -> Callable[[str], bool]:
    """Tells of a question id whether its last line is not written yet; with `failed_only` also
    whether it has failed before.
    """
    wanted = [name for name, on in ((RETRIEVAL, search), (HYPOTHESES, ask)) if on]
    done = set.intersection(*(set(run_dir.by_question(name)) for name in wanted))
    failed = set(run_dir.by_question(FAILURES)) if failed_only else None
    return lambda name: name not in done and (failed is None or name in failed)


class _Histories:
    """The histories still to be replayed, handed out one by one and read outside the event loop."""

    def __init__(self, histories: Iterator[list[Question]]) -> None:
        self._histories = histories
        self._turn = asyncio.Lock()

    async def next(self) -> list[Question] | None:
        """The questions of the next history, None after the last."""
        async with self._turn:
            return await asyncio.to_thread(next, self._histories, None)


class ReplayStage:
    """Replays the unfinished questions of one run directory. `account` is what every tick of the
    manifest says of requests and spending.
    """

    def __init__(
        self,
        run_dir: RunDir,
        manifest: Manifest,
        mode: Mode,
        options: ReplayOptions,
        listener: Listener,
        account: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        self._run_dir = run_dir
        self._manifest = manifest
        self._mode = mode
        self._options = options
        self._listener = listener
        self._account = account
        self._errors = ErrorRate(options.max_error_rate)
        self._ingested = set(run_dir.by_history(INGEST))
        self._searched = set(run_dir.by_question(RETRIEVAL))
        outlines = run_dir.by_question(QUESTIONS).items()
        self._read = {name for name, line in outlines if line["is_read"]}

    async def run(self, histories: Iterator[list[Question]], transport: Transport) -> int:
        """Replay all; returns how many questions failed. Raises when going on makes no sense."""
        waiting = _Histories(histories)
        async with asyncio.TaskGroup() as workers:
            tasks = [
                workers.create_task(self._work(transport, waiting))
                for _ in range(self._options.concurrency)
            ]
        return sum(task.result() for task in tasks)

    async def _work(self, transport: Transport, waiting: _Histories) -> int:
        failed = 0
        while questions := await waiting.next():
            self._remember(questions)
            for history in self._split(questions):
                failed += await self._history(transport, history)
        return failed

    def _split(self, questions: list[Question]) -> list[list[Question]]:
        """Where asking leaves traces, every question has the history to itself."""
        if self._mode.shares_histories:
            return [questions]
        return [[replace(question, shared_history=None)] for question in questions]

    async def _history(self, transport: Transport, questions: Sequence[Question]) -> int:
        """One history and all its questions; returns how many failed."""
        try:
            await self._ingest(questions[0])
        except AssistantError as error:
            for question in questions:
                self._failed(question, error)
            await _require_alive(transport, error)
            return len(questions)
        failed = 0
        for question in questions:
            failed += await self._question(transport, question)
        if self._options.forget:
            failed += await self._forget(questions[0])
        return failed

    async def _forget(self, question: Question) -> bool:
        try:
            await self._mode.forget(question)
        except AssistantError as error:
            self._run_dir.append(FAILURES, _failure_record(question, error))
            return True
        return False

    def _remember(self, questions: Sequence[Question]) -> None:
        """Complete the lines of questions of which only the outline was known."""
        for question in questions:
            if question.question_id not in self._read:
                self._read.add(question.question_id)
                self._run_dir.append(QUESTIONS, QuestionDigest.of(question).to_json())

    async def _ingest(self, question: Question) -> None:
        if question.history_id in self._ingested and await self._mode.is_ingested(question):
            return
        line = await self._mode.ingest(question)
        if line is not None:
            self._run_dir.append(INGEST, line)
            self._manifest.tick(**self._account())

    async def _question(self, transport: Transport, question: Question) -> bool:
        """One question with its lines; tells whether it failed."""
        try:
            if self._mode.searches and question.question_id not in self._searched:
                self._run_dir.append(RETRIEVAL, await self._mode.retrieve(question))
            if self._options.ask:
                asked = await self._mode.ask(question)
                if asked.retrieval is not None:
                    self._run_dir.append(RETRIEVAL, asked.retrieval)
                self._run_dir.append(HYPOTHESES, asked.hypothesis)
                said = asked.hypothesis["hypothesis"]
                self._listener.answered(QuestionDigest.of(question), said)
        except AssistantError as error:
            self._failed(question, error)
            await _require_alive(transport, error)
            return True
        self._ended(question, None)
        return False

    def _failed(self, question: Question, error: AssistantError) -> None:
        self._run_dir.append(FAILURES, _failure_record(question, error))
        self._ended(question, str(error))

    def _ended(self, question: Question, problem: str | None) -> None:
        self._listener.question_ended(question.question_id, problem)
        self._manifest.tick(**self._account())
        self._errors.ended(problem)


async def _require_alive(transport: Transport, error: AssistantError) -> None:
    """After a timeout: stop the run if the assistant answers nothing at all."""
    if isinstance(error, AssistantTimeout) and not await transport.is_alive():
        raise AssistantUnreachable(f"the assistant no longer answers: {error}") from error


def _failure_record(question: Question, error: AssistantError) -> dict[str, Any]:
    return {
        "question_id": question.question_id,
        "error": type(error).__name__,
        "route": error.route,
        "status": error.status,
        "message": str(error),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
