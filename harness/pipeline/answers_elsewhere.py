"""Questions answered elsewhere: the prompts that the assistant's reader would be sent go into a
folder, and the replies to them become the run's hypotheses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.assistants.endpoint import Endpoint
from harness.assistants.profile import load_profile
from harness.datasets.questions import Question
from harness.errors import BadReply, RunMismatch
from harness.handout.folder import PromptFolder
from harness.handout.replies import HandedReply, Replies
from harness.pipeline.prompts import Asking, keep_prompts, listen
from harness.pipeline.run import Run
from harness.records.run_dir import HYPOTHESES, PROMPTS
from harness.records.schema import HypothesisLine, JsonObject
from harness.replay.blinding import Blinding

# How the assistant wanted its reply delivered is its own affair.
_DELIVERY = ("stream", "stream_options")


@dataclass(frozen=True, slots=True)
class Taken:
    """How many questions have an answer now, and how many are missing."""

    answered: int
    missing: int


def export_questions(
    run: Run, endpoint: Endpoint, port: int, folder: PromptFolder, model: str | None = None
) -> int:
    """Ask every question once while listening on `port` as the assistant's chat model, and hand
    out what that is sent; `model` replaces the name of the model. Returns how many failed.
    """
    ids = ids_of(run)
    folder.require_only(set(ids.values()))
    folder.create()
    there = folder.ids
    todo = {question for question, name in ids.items() if name not in there}
    recorded = set(run.dir.by_question(PROMPTS))

    def keep(question: Question, requests: Sequence[JsonObject]) -> None:
        body = _only(requests, model)
        if question.question_id not in recorded:
            keep_prompts(run, question, requests)
        folder.put(ids[question.question_id], body)

    asking = Asking(load_profile("aide-memoire"), run.dir)
    failed = listen(run, endpoint, port, asking, stage="export", wanted=ids, todo=todo, keep=keep)
    folder.settle()
    return failed


def take_answers(
    run: Run, folder: PromptFolder, replies: Replies, answer_after: str | None = None
) -> Taken:
    """Make the replies to a folder's prompts the run's hypotheses, beside those that were taken
    before; with `answer_after`, only what stands behind the last of these words.

    Raises `RunMismatch` where the run has answers of its assistant, or the prompts are another
    run's.
    """
    if run.manifest.asks:
        raise RunMismatch(f"{run.dir.path} has hypotheses of its own: choose another --out")
    questions = {name: question for question, name in ids_of(run).items()}
    folder.require_only(set(questions))
    run.manifest.begin("import", questions=len(replies.by_id))
    lines = run.dir.by_question(HYPOTHESES)
    for name, reply in replies.by_id.items():
        lines[questions[name]] = _hypothesis(questions[name], reply, answer_after)
    run.dir.replace_lines(HYPOTHESES, lines.values())
    run.manifest.end()
    return Taken(len(lines), len(questions) - len(lines))


def ids_of(run: Run) -> dict[str, str]:
    """The opaque id of each selected question's prompt."""
    blinding = Blinding(run.manifest.salt)
    return {q.question_id: blinding.prompt(q.question_id) for q in run.selected}


def _only(requests: Sequence[JsonObject], model: str | None) -> JsonObject:
    """The one request of a question, as a batch takes it."""
    if len(requests) > 1:
        raise BadReply(
            f"the assistant asked its model {len(requests)} times for one question: elsewhere only "
            "a reader of one call can be answered",
            route="POST /v1/chat/completions",
        )
    body = {name: value for name, value in requests[0].items() if name not in _DELIVERY}
    return body | {"model": model} if model else body


def _hypothesis(question_id: str, reply: HandedReply, answer_after: str | None) -> HypothesisLine:
    text = reply.text
    if answer_after:
        text = text.rpartition(answer_after)[2].strip()
    return {
        "question_id": question_id,
        "hypothesis": text,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "elsewhere": True,
    }
