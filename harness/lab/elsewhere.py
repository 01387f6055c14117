"""Answers and verdicts given elsewhere. The prompts for the assistant's reader or for a judge's
model go into a folder; the replies to them become the run's hypotheses or the judge's replies.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.assistants.endpoint import Endpoint
from harness.assistants.profile import load_profile
from harness.datasets.questions import Question
from harness.errors import BadReply, RunMismatch, UsageError
from harness.judges import Judge, Verdict
from harness.judges.openai_chat import ID_BEGINS, Correspondence
from harness.lab.handout import PromptFolder, Replies, exchange
from harness.metrics.judge_table import draw_controls
from harness.pipeline.judging import JudgePlan, judge_run
from harness.pipeline.prompts import Asking, keep_prompts
from harness.pipeline.run import Run
from harness.records.digest import QuestionDigest
from harness.records.run_dir import (
    CONTROLS,
    HYPOTHESES,
    PROMPTS,
    SECOND_VERDICTS,
    VERDICTS,
    LineFile,
)
from harness.records.schema import HypothesisLine, JsonObject
from harness.replay.ingest import Blinding

# Left out of a handed-out request, since these fields only say how the reply is delivered.
_DELIVERY = ("stream", "stream_options")


@dataclass(frozen=True, slots=True)
class Taken:
    """The numbers of answered and missing questions; `searching` counts those of the missing whose
    last reply calls tools."""

    answered: int
    missing: int
    searching: int


def export_questions(
    run: Run,
    endpoint: Endpoint,
    port: int,
    folder: PromptFolder,
    replies: Replies,
    model: str | None = None,
) -> int:
    """Ask every question once while listening on `port` as the assistant's chat model, and hand out
    the prompts that this model is sent. Where `replies` call tools, the model repeats these calls,
    and its next prompt is handed out. `model` replaces the name of the model. Returns how many
    questions failed.
    """
    ids = ids_of(run)
    folder.require_only(set(ids.values()))
    folder.create()
    there = folder.bodies
    exchanges = {question: exchange(name, replies) for question, name in ids.items()}
    todo = {question for question, one in exchanges.items() if one.prompts[-1] not in there}
    recorded = set(run.dir.by_question(PROMPTS))

    def keep(question: Question, requests: Sequence[JsonObject]) -> None:
        name = question.question_id
        *before, prompt = exchanges[name].prompts
        last = _last(requests, [there[earlier] for earlier in before])
        if before or name not in recorded:
            keep_prompts(run, question, [last])
        folder.put(prompt, _body(last, model))

    calls = {question: one.calls for question, one in exchanges.items()}
    asking = Asking(run, endpoint, load_profile("aide-memoire"), run.dir, keep, calls)
    failed = asking.listen(port, "export", ids, todo)
    folder.settle()
    return failed


def take_answers(
    run: Run, folder: PromptFolder, replies: Replies, answer_after: str | None = None
) -> Taken:
    """Make the replies to a folder's prompts the run's hypotheses, beside the replies taken before.
    With `answer_after`, only the text after the last occurrence of these words counts.

    Raises `RunMismatch` if the run has answers of its own assistant, or if the prompts belong to
    another run.
    """
    if run.manifest.asks:
        raise RunMismatch(f"{run.dir.path} has hypotheses of its own: choose another --out")
    ids, bodies = ids_of(run), folder.bodies
    folder.require_only(set(ids.values()))
    run.manifest.begin("import", questions=len(replies.by_id))
    lines = run.dir.by_question(HYPOTHESES)
    searching = 0
    for question, name in ids.items():
        said = exchange(name, replies)
        if said.answer:
            lines[question] = _hypothesis(question, said.answer.text, answer_after) | {
                "prompt_tokens": said.prompt_tokens,
                "completion_tokens": said.completion_tokens,
            }
            if bodies[name].get("tools"):
                lines[question]["looks"] = said.looks
        elif said.calls:
            lines.pop(question, None)
            searching += 1
    run.dir.replace_lines(HYPOTHESES, lines.values())
    run.manifest.end()
    return Taken(len(lines), len(ids) - len(lines), searching)


def ids_of(run: Run) -> dict[str, str]:
    blinding = Blinding(run.manifest.salt)
    return {q.question_id: blinding.prompt(q.question_id) for q in run.selected}


def _last(requests: Sequence[JsonObject], before: Sequence[JsonObject]) -> JsonObject:
    """The last request for a question. Raises `BadReply` unless the requests before it equal those
    that were handed out `before`."""
    route = "POST /v1/chat/completions"
    if len(requests) > len(before) + 1:
        raise BadReply(
            f"the assistant asked its model {len(requests)} times for one question: elsewhere only "
            "a reader of one call, and of its searches, can be answered",
            route=route,
        )
    asked = [request["messages"] for request in requests[:-1]]
    if asked != [body["messages"] for body in before]:
        raise BadReply(
            "the assistant asks otherwise than when its prompts were exported, or does not take "
            "calls of tools: its settings or its memory have changed",
            route=route,
        )
    return requests[-1]


def _body(request: JsonObject, model: str | None) -> JsonObject:
    body = {name: value for name, value in request.items() if name not in _DELIVERY}
    return body | {"model": model} if model else body


def _hypothesis(question_id: str, text: str, answer_after: str | None) -> HypothesisLine:
    if answer_after:
        text = text.rpartition(answer_after)[2].strip()
    return {"question_id": question_id, "hypothesis": text, "elsewhere": True}


def correspondence_of(replies: Replies) -> Correspondence:
    return Correspondence(replies.by_id)


def require_verdicts(folder: PromptFolder, judges: Sequence[Judge | None]) -> None:
    """Raise `UsageError` if no judge has a model, or `RunMismatch` if the folder holds prompts of
    questions."""
    if all(judge is None or judge.meter is None for judge in judges):
        raise UsageError("the lexical judge asks nobody: name a model or a person with --judge")
    if not all(name.startswith(ID_BEGINS) for name in folder.ids):
        raise RunMismatch(f"--prompts {folder.path} holds questions: choose another folder")


def export_verdicts(
    run: Run, judge: Judge, plan: JudgePlan, letters: Correspondence, folder: PromptFolder
) -> int:
    """Hand out the judges' prompts about the run's hypotheses and controls that have no reply yet.
    Writes no verdict. Returns how many prompts wait.
    """
    hypotheses = {key: line["hypothesis"] for key, line in run.dir.by_question(HYPOTHESES).items()}
    if not hypotheses:
        raise UsageError(f"{run.dir.path} holds no hypotheses: name some with --hypotheses")
    questions = run.digests(hypotheses)
    said = [(question, hypotheses[question.question_id]) for question in questions]
    controls = draw_controls(questions, hypotheses, sample=plan.controls, seed=plan.seed)
    made_up = [(control.question, control.hypothesis) for control in controls]
    asyncio.run(_ask(judge, [*said, *made_up]))
    if plan.second:
        asyncio.run(_ask(plan.second, said))
    return _hand_out(letters, folder)


def import_verdicts(
    run: Run, judge: Judge, plan: JudgePlan, letters: Correspondence, folder: PromptFolder
) -> int:
    """Judge with the replies that are there, again where they changed; follow-up prompts go into
    the folder as well. Returns how many prompts wait.
    """
    for name, one in ((VERDICTS, judge), (CONTROLS, judge), (SECOND_VERDICTS, plan.second)):
        if one is not None:
            asyncio.run(_forget_changed(run, name, one))
    letters.awaited.clear()  # Judging notes again which replies it awaits.
    judge_run(run, judge, plan)
    return _hand_out(letters, folder)


async def _forget_changed(run: Run, name: LineFile[Any], judge: Judge) -> None:
    """Drop the verdicts that differ from what the present replies lead to."""
    hypotheses = run.dir.by_question(HYPOTHESES)
    questions = {q.question_id: q for q in run.digests(hypotheses)}
    lines = run.dir.records(name)
    kept = []
    for line in lines:
        question = questions.get(line["question_id"])
        if question is None or line.get("judge_hash") != judge.hash:
            continue  # Judging would drop this line as well.
        said = line.get("hypothesis", hypotheses[question.question_id]["hypothesis"])
        verdict = await judge.judge(question, said)
        if "error" in verdict.details or _is_said(verdict, line):
            kept.append(line)
    if len(kept) != len(lines):
        run.dir.replace_lines(name, kept)


def _is_said(verdict: Verdict, line: Mapping[str, Any]) -> bool:
    votes = verdict.details.get("votes")
    was = (line["verdict"], line["raw"], line.get("votes"))
    return was == (verdict.verdict, verdict.raw, votes)


async def _ask(judge: Judge, answers: Sequence[tuple[QuestionDigest, str]]) -> None:
    """Have the judge ask about answers; its chat notes the requests that have no reply."""
    for question, hypothesis in answers:
        await judge.judge(question, hypothesis)
    await judge.close()


def _hand_out(letters: Correspondence, folder: PromptFolder) -> int:
    folder.create()
    there = folder.ids
    for name, body in letters.awaited.items():
        if name not in there:
            folder.put(name, body)
    folder.settle()
    return len(letters.awaited)
