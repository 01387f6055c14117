"""What a reader gets to see: every question of a run asked once, with a listening model behind."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from harness.assistants.client import identify
from harness.assistants.endpoint import Endpoint
from harness.assistants.profile import Profile
from harness.assistants.transport import Transport
from harness.context.prompt_evidence import prompt_record
from harness.context.recording_model import RecordingModel, all_text, recording_model
from harness.datasets.questions import Question
from harness.errors import AssistantError, BadReply, IngestMismatch, UsageError
from harness.pipeline.progress import ReplayProgress
from harness.pipeline.run import Run
from harness.records.run_dir import FAILURES, INGEST, PROMPTS, RunDir
from harness.records.schema import FailureLine, JsonObject
from harness.replay.blinding import Blinding
from harness.replay.modes.chat import Attempts
from harness.replay.modes.mode import Mode
from harness.replay.modes.registry import CHATTED, NATIVE, Approach, Surroundings, make_mode
from harness.spending.budget import Meter

Keep = Callable[[Question, Sequence[JsonObject]], None]
_NOT_STORED = (
    "the assistant does not hold this history completely: ingest it first, and name that run "
    "with --ingested"
)


def record_prompts(
    run: Run, endpoint: Endpoint, port: int, profile: Profile, ingested: Path | None
) -> int:
    """Ask every answerable question once while listening on `port` as the assistant's chat model;
    returns how many failed. The histories are those of the run in `ingested`; an assistant without
    our routes cannot say which ones it holds, so that it needs one.
    """
    if ingested is None and not profile.is_ours:
        raise UsageError("--profile needs --ingested: the run whose histories the assistant holds")
    wanted = {q.question_id for q in run.selected if not q.is_abstention}
    todo = wanted - set(run.dir.by_question(PROMPTS))
    told = RunDir(ingested) if ingested else run.dir

    def keep(question: Question, requests: Sequence[JsonObject]) -> None:
        keep_prompts(run, question, requests)

    asking = Asking(profile, told)
    return listen(run, endpoint, port, asking, stage="context", wanted=wanted, todo=todo, keep=keep)


def keep_prompts(run: Run, question: Question, requests: Sequence[JsonObject]) -> None:
    """Write down which evidence the requests of one question held."""
    run.dir.append(PROMPTS, prompt_record(question, [all_text(request) for request in requests]))


def listen(
    run: Run,
    endpoint: Endpoint,
    port: int,
    asking: "Asking",
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
        is_ours = asking.profile.is_ours
        run.manifest.require_assistant(asyncio.run(identify(endpoint, is_ours=is_ours)))
        run.manifest.begin(stage, questions=len(todo))
        with run.progress(len(wanted), len(wanted) - len(todo)) as progress:
            asked = _ask_all(run, endpoint, run.dataset.read(todo), asking, model, keep, progress)
            failed = asyncio.run(asked)
        run.manifest.end()
    return failed


async def _ask_all(
    run: Run,
    endpoint: Endpoint,
    questions: Iterable[Question],
    asking: "Asking",
    model: RecordingModel,
    keep: Keep,
    progress: ReplayProgress,
) -> int:
    """One at a time, so that what the model receives meanwhile belongs to the question."""
    failed = 0
    async with Transport(endpoint) as transport:
        mode = asking.mode(transport, Blinding(run.manifest.salt))
        for question in questions:
            problem = None
            try:
                keep(question, await asking.heard(mode, question, model))
            except AssistantError as error:
                problem = str(error)
                name, kind = question.question_id, type(error).__name__
                failure = FailureLine(question_id=name, error=kind, message=problem)
                run.dir.append(FAILURES, failure)
            failed += problem is not None
            progress.question_ended(question.question_id, problem)
            run.manifest.tick()
    return failed


class Asking:
    """How one question is asked of a history that was told in the run in `told`."""

    def __init__(self, profile: Profile, told: RunDir) -> None:
        self.profile = profile
        self._told = told
        self._histories = set(told.by_history(INGEST))

    def mode(self, transport: Transport, blinding: Blinding) -> Mode:
        """What asks under the names that the histories were told under."""
        way = NATIVE if self.profile.is_ours else CHATTED[0]
        meter, attempts = Meter("assistant", None), Attempts(self._told)
        around = Surroundings(transport, blinding, attempts, meter, 0.0, _nothing)
        return make_mode(Approach(way, self.profile), around)

    async def heard(
        self, mode: Mode, question: Question, model: RecordingModel
    ) -> list[JsonObject]:
        """What the model is sent when the question is asked. Raises the errors of
        `harness.errors`."""
        if not mode.shares_histories:
            question = replace(question, shared_history=None)
        if not await self._is_held(mode, question):
            raise IngestMismatch(_NOT_STORED, route="GET /v1/sessions")
        model.take()
        await mode.ask(question)
        requests = model.take()
        if not requests:
            raise BadReply(
                "the assistant answered without asking the listening model: set its chat model's "
                f"base URL to {model.url}",
                route=f"POST {self.profile.path}",
            )
        return requests

    async def _is_held(self, mode: Mode, question: Question) -> bool:
        if self.profile.is_ours:
            return await mode.is_ingested(question)
        return question.history_id in self._histories


def _nothing() -> None:
    """No round is stored here."""
