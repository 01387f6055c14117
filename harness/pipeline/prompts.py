"""Recording of what an assistant's chat model is sent: every question of a run is asked once, with
the harness in the place of that model.

The recording model keeps every request and answers with one word, or first calls tools as it is
told; it speaks the OpenAI chat protocol, streaming or not, on 127.0.0.1.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from harness.assistants.client import identify
from harness.assistants.endpoint import Endpoint
from harness.assistants.profile import AssistantProfile
from harness.assistants.transport import Transport
from harness.datasets.questions import Question
from harness.errors import AssistantError, BadReply, IngestMismatch, UsageError
from harness.metrics.prompt_evidence import prompt_record
from harness.pipeline.progress import ReplayProgress
from harness.pipeline.run import Run
from harness.records.run_dir import FAILURES, INGEST, PROMPTS, RunDir
from harness.records.schema import FailureLine, JsonObject
from harness.replay.chat_mode import Attempts
from harness.replay.ingest import Blinding
from harness.replay.mode import ReplayMode
from harness.replay.modes import CHATTED, NATIVE, Approach, ModeContext, make_mode
from harness.spending import Meter
from harness.text import tokens_of

ANSWER = "Recorded."


class RecordingModel:
    """The requests received since they were last taken; `url` is the base URL of the API."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._requests: list[JsonObject] = []
        self._calls: Sequence[JsonObject] = ()
        self._lock = threading.Lock()

    def call(self, messages: Sequence[JsonObject]) -> None:
        """From now on, reply first with these messages, which call tools, one after the other."""
        self._calls = messages

    def reply_to(self, request: Mapping[str, Any]) -> JsonObject:
        """The next message of a conversation: a call of tools not made yet, or the answer."""
        made = called(request)
        if made < len(self._calls):
            return {"role": "assistant", "content": None} | self._calls[made]
        return {"role": "assistant", "content": ANSWER}

    def take(self) -> list[JsonObject]:
        """The requests received since the last call, in order, each as it was sent."""
        with self._lock:
            taken, self._requests = self._requests, []
        return taken

    def keep(self, request: JsonObject) -> None:
        with self._lock:
            self._requests.append(request)


@contextmanager
def recording_model(port: int) -> Iterator[RecordingModel]:
    """Run a recording model; port 0 takes a free port. `UsageError` where the port is taken."""
    try:
        server = _Server(("127.0.0.1", port), _Handler)
    except OSError as error:
        raise UsageError(f"--listen {port}: {error.strerror or error}") from error
    server.model = RecordingModel(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    model: RecordingModel


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            asked = json.loads(body)
            prompt = all_text(asked)
        except (ValueError, TypeError, KeyError):
            self._send(400, "application/json", '{"error": {"message": "not a chat request"}}')
            return
        self.server.model.keep(asked)
        message = self.server.model.reply_to(asked)
        completion = _completion(prompt, str(asked.get("model", "recording")), message)
        if asked.get("stream"):
            self._send(200, "text/event-stream", "".join(_events(completion)))
        else:
            self._send(200, "application/json", json.dumps(completion))

    def do_GET(self) -> None:
        models = {"object": "list", "data": [{"id": "recording", "object": "model"}]}
        self._send(200, "application/json", json.dumps(models))

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the recorded prompts are the log."""


def all_text(request: Mapping[str, Any]) -> str:
    return "\n\n".join(message_text(message) for message in request["messages"])


def called(request: Mapping[str, Any]) -> int:
    """How often the model has called tools in a request's conversation."""
    return sum("tool_calls" in message for message in request["messages"])


def _completion(prompt: str, model: str, message: JsonObject) -> dict[str, Any]:
    read, written = tokens_of(len(prompt)), tokens_of(len(message["content"] or ""))
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": "chatcmpl-recorded",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def _events(completion: dict[str, Any]) -> Iterator[str]:
    common = completion | {"object": "chat.completion.chunk"}
    usage = common.pop("usage")
    choice = common.pop("choices")[0]
    for delta, reason in ((choice["message"], None), ({}, choice["finish_reason"])):
        chunk = common | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        yield f"data: {json.dumps(chunk)}\n\n"
    yield f"data: {json.dumps(common | {'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


Keep = Callable[[Question, Sequence[JsonObject]], None]
_NOT_STORED = (
    "the assistant does not hold this history completely: ingest it first, and name that run "
    "with --ingested"
)


def record_prompts(
    run: Run, endpoint: Endpoint, port: int, profile: AssistantProfile, ingested: Path | None
) -> int:
    """Ask every answerable question once while listening on `port` as the assistant's chat model;
    returns how many failed. The histories are those of the run in `ingested`, which an assistant
    without our routes needs, as it cannot say which histories it holds.
    """
    if ingested is None and not profile.is_ours:
        raise UsageError("--profile needs --ingested: the run whose histories the assistant holds")
    wanted = {q.question_id for q in run.selected if not q.is_abstention}
    todo = wanted - set(run.dir.by_question(PROMPTS))

    def keep(question: Question, requests: Sequence[JsonObject]) -> None:
        keep_prompts(run, question, requests)

    asking = Asking(run, endpoint, profile, RunDir(ingested) if ingested else run.dir, keep)
    return asking.listen(port, "context", wanted, todo)


def keep_prompts(run: Run, question: Question, requests: Sequence[JsonObject]) -> None:
    """Write down which evidence the requests of one question held."""
    run.dir.append(PROMPTS, prompt_record(question, [all_text(request) for request in requests]))


@dataclass(frozen=True)
class Asking:
    """Asks questions about histories that the run in `told` brought in; `keep` is given what the
    model was sent for each. `calls` are, by question, the messages with which the model calls
    tools before it answers.
    """

    run: Run
    endpoint: Endpoint
    profile: AssistantProfile
    told: RunDir
    keep: Keep
    calls: Mapping[str, Sequence[JsonObject]] = field(default_factory=dict)

    def listen(self, port: int, stage: str, wanted: Collection[str], todo: Collection[str]) -> int:
        """Ask the questions `todo`, of all that are `wanted`, while listening on `port`. Returns
        how many failed.
        """
        run, is_ours = self.run, self.profile.is_ours
        with run.dir.owned(), recording_model(port) as model:
            run.manifest.require_assistant(asyncio.run(identify(self.endpoint, is_ours=is_ours)))
            run.manifest.begin(stage, questions=len(todo))
            with run.progress(len(wanted), len(wanted) - len(todo)) as progress:
                failed = asyncio.run(self._ask_all(run.dataset.read(todo), model, progress))
            run.manifest.end()
        return failed

    async def _ask_all(
        self, questions: Iterable[Question], model: RecordingModel, progress: ReplayProgress
    ) -> int:
        """Ask one question at a time, so that what the model receives meanwhile belongs to it."""
        failed, run = 0, self.run
        async with Transport(self.endpoint) as transport:
            mode = self._mode(transport)
            for question in questions:
                problem = None
                try:
                    self.keep(question, await self._heard(mode, question, model))
                except AssistantError as error:
                    problem = str(error)
                    name, kind = question.question_id, type(error).__name__
                    failure = FailureLine(question_id=name, error=kind, message=problem)
                    run.dir.append(FAILURES, failure)
                failed += problem is not None
                progress.question_ended(question.question_id, problem)
                run.manifest.tick()
        return failed

    def _mode(self, transport: Transport) -> ReplayMode:
        """The mode that asks under the names that the histories were told under."""
        way = NATIVE if self.profile.is_ours else CHATTED[0]
        blinding, attempts = Blinding(self.run.manifest.salt), Attempts(self.told)
        meter = Meter("assistant", None)
        around = ModeContext(transport, blinding, attempts, meter, 0.0, _nothing)
        return make_mode(Approach(way, self.profile), around)

    async def _heard(
        self, mode: ReplayMode, question: Question, model: RecordingModel
    ) -> list[JsonObject]:
        """What the model is sent when the question is asked."""
        if not mode.shares_histories:
            question = replace(question, shared_history=None)
        if not await self._is_held(mode, question):
            raise IngestMismatch(_NOT_STORED, route="GET /v1/sessions")
        model.call(self.calls.get(question.question_id, ()))
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

    async def _is_held(self, mode: ReplayMode, question: Question) -> bool:
        if self.profile.is_ours:
            return await mode.is_ingested(question)
        return question.history_id in self._histories

    @cached_property
    def _histories(self) -> set[str]:
        return set(self.told.by_history(INGEST))


def _nothing() -> None:
    """No round is stored here."""


def message_text(message: Mapping[str, Any]) -> str:
    """The text of a message, which may come in parts."""
    content = message["content"]
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")
