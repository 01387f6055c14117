"""All histories of a run through the assistant: concurrent across users, resumable, one failure at
a time.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from harness.assistants.client import AssistantClient, Endpoint
from harness.datasets.questions import Question
from harness.errors import AssistantError, AssistantTimeout, AssistantUnreachable
from harness.replay.blinding import Blinding
from harness.replay.ingest import Ingester
from harness.replay.replaying import Replayer
from harness.runs.digest import QuestionDigest
from harness.runs.manifest import AssistantIdentity, Manifest
from harness.runs.progress import ReplayProgress
from harness.runs.run_dir import FAILURES, HYPOTHESES, INGEST, QUESTIONS, RETRIEVAL, RunDir

# How long a server may take to appear at the start, where nothing is at stake yet.
_FIRST_CONTACT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How a replay is made; `ask` is off when only retrieval is wanted."""

    ask: bool = True
    concurrency: int = 2
    barrier_seconds: float = 60.0
    forget: bool = False


async def identify(endpoint: Endpoint) -> AssistantIdentity:
    """First contact: what the assistant says it is. Any trouble here is raised at once."""
    patience = min(endpoint.retry.reconnect_seconds, _FIRST_CONTACT_SECONDS)
    hasty = replace(endpoint, retry=replace(endpoint.retry, reconnect_seconds=patience, attempts=2))
    async with AssistantClient(hasty) as client:
        version = await client.version()
    return AssistantIdentity(url=endpoint.public_url, model=endpoint.model, version=version)


def unfinished(
    questions: Sequence[QuestionDigest], run_dir: RunDir, *, ask: bool
) -> list[QuestionDigest]:
    """The questions whose last line is not written yet."""
    done = set(run_dir.by_question(RETRIEVAL))
    if ask:
        done &= set(run_dir.by_question(HYPOTHESES))
    return [question for question in questions if question.question_id not in done]


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
    """Replays the unfinished questions of one run directory."""

    def __init__(
        self,
        run_dir: RunDir,
        manifest: Manifest,
        endpoint: Endpoint,
        options: ReplayOptions,
        progress: ReplayProgress,
    ) -> None:
        self._run_dir = run_dir
        self._manifest = manifest
        self._endpoint = endpoint
        self._options = options
        self._progress = progress
        self._ingested = set(run_dir.by_history(INGEST))
        self._searched = set(run_dir.by_question(RETRIEVAL))
        outlines = run_dir.by_question(QUESTIONS).items()
        self._unread = {name for name, line in outlines if not line["is_read"]}

    async def run(self, histories: Iterator[list[Question]]) -> int:
        """Replay all; returns how many questions failed. Raises when going on makes no sense."""
        async with AssistantClient(self._endpoint) as client:
            waiting = _Histories(histories)
            try:
                async with asyncio.TaskGroup() as workers:
                    tasks = [
                        workers.create_task(self._work(client, waiting))
                        for _ in range(self._options.concurrency)
                    ]
            except ExceptionGroup as group:
                raise _first(group) from group
        return sum(task.result() for task in tasks)

    async def _work(self, client: AssistantClient, waiting: _Histories) -> int:
        blinding = Blinding(self._manifest.salt)
        ingester = Ingester(
            client,
            blinding,
            barrier_seconds=self._options.barrier_seconds,
            on_round=self._progress.round_stored,
        )
        replayer = Replayer(client, blinding, ingester)
        failed = 0
        while questions := await waiting.next():
            failed += await self._history(client, replayer, questions)
        return failed

    async def _history(
        self, client: AssistantClient, replayer: Replayer, questions: Sequence[Question]
    ) -> int:
        """One history and all its questions; returns how many failed."""
        self._remember(questions)
        try:
            await self._ingest(replayer, questions[0])
        except AssistantError as error:
            for question in questions:
                self._failed(question, error)
            await _require_alive(client, error)
            return len(questions)
        failed = 0
        for question in questions:
            failed += await self._question(client, replayer, question)
        if self._options.forget:
            failed += await self._forget(replayer, questions[0])
        return failed

    async def _forget(self, replayer: Replayer, question: Question) -> bool:
        try:
            await replayer.forget(question)
        except AssistantError as error:
            self._run_dir.append(FAILURES, _failure_record(question, error))
            return True
        return False

    def _remember(self, questions: Sequence[Question]) -> None:
        """Complete the lines of questions of which only the outline was known."""
        for question in questions:
            if question.question_id in self._unread:
                self._run_dir.append(QUESTIONS, QuestionDigest.of(question).to_json())

    async def _ingest(self, replayer: Replayer, question: Question) -> None:
        if question.history_id in self._ingested and await replayer.is_ingested(question):
            return
        self._run_dir.append(INGEST, await replayer.ingest(question))

    async def _question(
        self, client: AssistantClient, replayer: Replayer, question: Question
    ) -> bool:
        """One question with its lines; tells whether it failed."""
        try:
            if question.question_id not in self._searched:
                self._run_dir.append(RETRIEVAL, await replayer.retrieve(question))
            if self._options.ask:
                self._run_dir.append(HYPOTHESES, await replayer.ask(question))
        except AssistantError as error:
            self._failed(question, error)
            await _require_alive(client, error)
            return True
        self._ended(question, None)
        return False

    def _failed(self, question: Question, error: AssistantError) -> None:
        self._run_dir.append(FAILURES, _failure_record(question, error))
        self._ended(question, str(error))

    def _ended(self, question: Question, problem: str | None) -> None:
        self._progress.question_ended(question.question_id, problem)
        self._manifest.tick()


async def _require_alive(client: AssistantClient, error: AssistantError) -> None:
    """After a timeout: stop the run if the assistant answers nothing at all."""
    if isinstance(error, AssistantTimeout) and not await client.is_alive():
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


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
