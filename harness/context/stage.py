"""What a reader gets to see: every question of a run asked once, with a listening model behind."""

from collections.abc import Iterable

from harness.assistants.client import AssistantClient
from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.assistants.wire import rfc3339
from harness.context.prompt_evidence import prompt_record
from harness.context.recording_model import RecordingModel
from harness.datasets.questions import Question
from harness.errors import AssistantError, BadReply, IngestMismatch
from harness.replay.blinding import Blinding
from harness.replay.ingest import Ingester
from harness.runs.manifest import Manifest
from harness.runs.progress import ReplayProgress
from harness.runs.run_dir import FAILURES, PROMPTS, RunDir


class ContextStage:
    """Asks questions of histories that are already in memory, one after the other.

    One at a time, so that what the model receives meanwhile belongs to the question.
    """

    def __init__(
        self, run_dir: RunDir, manifest: Manifest, endpoint: Endpoint, progress: ReplayProgress
    ) -> None:
        self._run_dir = run_dir
        self._manifest = manifest
        self._endpoint = endpoint
        self._progress = progress
        self._blinding = Blinding(manifest.salt)

    async def run(self, questions: Iterable[Question], model: RecordingModel) -> int:
        """Record the prompts of all; returns how many questions failed."""
        failed = 0
        async with Transport(self._endpoint) as transport:
            client = AssistantClient(transport)
            for question in questions:
                problem = await self._one(client, question, model)
                failed += problem is not None
                self._progress.question_ended(question.question_id, problem)
                self._manifest.tick()
        return failed

    async def _one(
        self, client: AssistantClient, question: Question, model: RecordingModel
    ) -> str | None:
        try:
            self._run_dir.append(PROMPTS, await self._recorded(client, question, model))
        except AssistantError as error:
            failure = {"question_id": question.question_id, "error": type(error).__name__}
            self._run_dir.append(FAILURES, failure | {"message": str(error)})
            return str(error)
        return None

    async def _recorded(
        self, client: AssistantClient, question: Question, model: RecordingModel
    ) -> dict[str, object]:
        ingester = Ingester(client, self._blinding, barrier_seconds=0.0, on_round=_nothing)
        if not await ingester.is_stored(question):
            raise IngestMismatch(
                "the history is not in memory as it should be: ingest it first, and name that run "
                "with --ingested",
                route="GET /v1/sessions",
            )
        model.take()
        await client.ask(
            self._blinding.user(question.history_id),
            self._blinding.asking_session(question.question_id),
            question.question,
            now=rfc3339(question.question_date),
        )
        prompts = model.take()
        if not prompts:
            raise BadReply(
                "the assistant answered without asking the listening model: set its chat model's "
                f"base URL to {model.url}",
                route="POST /v1/chat/completions",
            )
        return prompt_record(question, prompts)


def _nothing() -> None:
    """No round is stored here."""
