"""What a reader gets to see: every question of a run asked once, with a listening model behind."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence

from harness.assistants.client import AssistantClient, identify
from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.context.prompt_evidence import prompt_record
from harness.context.recording_model import RecordingModel, all_text, recording_model
from harness.datasets.questions import Question
from harness.errors import AssistantError, BadReply, IngestMismatch
from harness.pipeline.progress import ReplayProgress
from harness.pipeline.run import Run
from harness.records.run_dir import FAILURES, PROMPTS
from harness.records.schema import FailureLine, JsonObject
from harness.replay.blinding import Blinding
from harness.replay.ingest import Ingester
from harness.text import rfc3339

Keep = Callable[[Question, Sequence[JsonObject]], None]


def record_prompts(run: Run, endpoint: Endpoint, port: int) -> int:
    """Ask every answerable question once while listening on `port` as the assistant's chat model;
    returns how many failed.
    """
    wanted = {q.question_id for q in run.selected if not q.is_abstention}
    todo = wanted - set(run.dir.by_question(PROMPTS))

    def keep(question: Question, requests: Sequence[JsonObject]) -> None:
        keep_prompts(run, question, requests)

    return listen(run, endpoint, port, stage="context", wanted=wanted, todo=todo, keep=keep)


def keep_prompts(run: Run, question: Question, requests: Sequence[JsonObject]) -> None:
    """Write down which evidence the requests of one question held."""
    run.dir.append(PROMPTS, prompt_record(question, [all_text(request) for request in requests]))


def listen(
    run: Run,
    endpoint: Endpoint,
    port: int,
    *,
    stage: str,
    wanted: Collection[str],
    todo: Collection[str],
    keep: Keep,
) -> int:
    """Ask the questions `todo`, of all that are `wanted`, while listening on `port`; `keep` is
    given what the model was sent for each. Returns how many failed.
    """
    with run.dir.owned(), recording_model(port) as model:
        run.manifest.require_assistant(asyncio.run(identify(endpoint)))
        run.manifest.begin(stage, questions=len(todo))
        with run.progress(len(wanted), len(wanted) - len(todo)) as progress:
            asked = _ask_all(run, endpoint, run.dataset.read(todo), model, keep, progress)
            failed = asyncio.run(asked)
        run.manifest.end()
    return failed


async def _ask_all(
    run: Run,
    endpoint: Endpoint,
    questions: Iterable[Question],
    model: RecordingModel,
    keep: Keep,
    progress: ReplayProgress,
) -> int:
    """One at a time, so that what the model receives meanwhile belongs to the question."""
    failed = 0
    blinding = Blinding(run.manifest.salt)
    async with Transport(endpoint) as transport:
        client = AssistantClient(transport)
        for question in questions:
            problem = None
            try:
                keep(question, await _heard(client, blinding, question, model))
            except AssistantError as error:
                problem = str(error)
                name, kind = question.question_id, type(error).__name__
                failure = FailureLine(question_id=name, error=kind, message=problem)
                run.dir.append(FAILURES, failure)
            failed += problem is not None
            progress.question_ended(question.question_id, problem)
            run.manifest.tick()
    return failed


async def _heard(
    client: AssistantClient, blinding: Blinding, question: Question, model: RecordingModel
) -> list[JsonObject]:
    """What the model is sent when the question is asked."""
    ingester = Ingester(client, blinding, barrier_seconds=0.0, on_round=_nothing)
    if not await ingester.is_stored(question):
        raise IngestMismatch(
            "the assistant does not hold this history completely: ingest it first, and name "
            "that run with --ingested",
            route="GET /v1/sessions",
        )
    model.take()
    await client.ask(
        blinding.user(question.history_id),
        blinding.asking_session(question.question_id),
        question.question,
        now=rfc3339(question.question_date),
    )
    requests = model.take()
    if not requests:
        raise BadReply(
            "the assistant answered without asking the listening model: set its chat model's "
            f"base URL to {model.url}",
            route="POST /v1/chat/completions",
        )
    return requests


def _nothing() -> None:
    """No round is stored here."""
