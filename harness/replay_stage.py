"""All questions of a run through the assistant: concurrent across users, resumable, one failure at
a time.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from harness.blinding import Blinding
from harness.client import AssistantClient, Endpoint
from harness.errors import AssistantError, AssistantTimeout, AssistantUnreachable
from harness.ingest import Ingester
from harness.manifest import AssistantIdentity, Manifest
from harness.progress import ReplayProgress
from harness.questions import Question
from harness.replay import Replayer
from harness.run_dir import FAILURES, HYPOTHESES, RETRIEVAL, RunDir

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


def unfinished(questions: Sequence[Question], run_dir: RunDir, *, ask: bool) -> list[Question]:
    """The questions whose last line is not written yet."""
    done = set(run_dir.by_question(RETRIEVAL))
    if ask:
        done &= set(run_dir.by_question(HYPOTHESES))
    return [question for question in questions if question.question_id not in done]


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

    async def run(self, questions: Sequence[Question]) -> int:
        """Replay all; returns how many failed. Raises when going on makes no sense."""
        async with AssistantClient(self._endpoint) as client:
            waiting = iter(questions)
            try:
                async with asyncio.TaskGroup() as workers:
                    tasks = [
                        workers.create_task(self._work(client, waiting))
                        for _ in range(min(self._options.concurrency, len(questions)))
                    ]
            except ExceptionGroup as group:
                raise _first(group) from group
        return sum(task.result() for task in tasks)

    async def _work(self, client: AssistantClient, waiting: Iterator[Question]) -> int:
        blinding = Blinding(self._manifest.salt)
        ingester = Ingester(
            client,
            blinding,
            barrier_seconds=self._options.barrier_seconds,
            on_round=self._progress.round_stored,
        )
        replayer = Replayer(client, blinding, ingester)
        failed = 0
        for question in waiting:
            problem = await self._one(client, replayer, question)
            failed += problem is not None
            self._progress.question_ended(question.question_id, problem)
            self._manifest.tick()
        return failed

    async def _one(
        self, client: AssistantClient, replayer: Replayer, question: Question
    ) -> str | None:
        """One question with its lines; returns what went wrong, None for success."""
        try:
            self._run_dir.append(RETRIEVAL, await replayer.retrieve(question))
            if self._options.ask:
                self._run_dir.append(HYPOTHESES, await replayer.ask(question))
            if self._options.forget:
                await replayer.forget(question)
        except AssistantError as error:
            self._run_dir.append(FAILURES, _failure_record(question, error))
            if isinstance(error, AssistantTimeout) and not await client.is_alive():
                raise AssistantUnreachable(f"the assistant no longer answers: {error}") from error
            return str(error)
        return None


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
