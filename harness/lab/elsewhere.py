"""Questions and verdicts given elsewhere: the prompts that the assistant's reader or a judge's
model would be sent go into a folder, and the replies to them become the run's hypotheses, or are
read as the judge's.
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
from harness.judges.openai_chat import ID_BEGINS, Correspondence, ModelReply
from harness.lab.handout import PromptFolder, Replies
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

# The assistant decides how its reply is delivered.
_DELIVERY = ("stream", "stream_options")


@dataclass(frozen=True, slots=True)
class Taken:
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

    asking = Asking(run, endpoint, load_profile("aide-memoire"), run.dir, keep)
    failed = asking.listen(port, "export", ids, todo)
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
    blinding = Blinding(run.manifest.salt)
    return {q.question_id: blinding.prompt(q.question_id) for q in run.selected}


def _only(requests: Sequence[JsonObject], model: str | None) -> JsonObject:
    if len(requests) > 1:
        raise BadReply(
            f"the assistant asked its model {len(requests)} times for one question: elsewhere only "
            "a reader of one call can be answered",
            route="POST /v1/chat/completions",
        )
    body = {name: value for name, value in requests[0].items() if name not in _DELIVERY}
    return body | {"model": model} if model else body


def _hypothesis(question_id: str, reply: ModelReply, answer_after: str | None) -> HypothesisLine:
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


def correspondence_of(replies: Replies) -> Correspondence:
    return Correspondence(replies.by_id)


def require_verdicts(folder: PromptFolder, judges: Sequence[Judge | None]) -> None:
    """Raise where nobody is to be asked, or where the folder holds prompts of another kind."""
    if all(judge is None or judge.meter is None for judge in judges):
        raise UsageError("the lexical judge asks nobody: name a model or a person with --judge")
    if not all(name.startswith(ID_BEGINS) for name in folder.ids):
        raise RunMismatch(f"--prompts {folder.path} holds questions: choose another folder")


def export_verdicts(
    run: Run, judge: Judge, plan: JudgePlan, letters: Correspondence, folder: PromptFolder
) -> int:
    """Hand out what the judges would ask about the run's hypotheses and controls, and has no reply
    yet; writes no verdict. Returns how many prompts wait.
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
    """Judge with the replies there are, again where they changed; what they lead to asking goes
    into the folder, too. Returns how many prompts wait.
    """
    for name, one in ((VERDICTS, judge), (CONTROLS, judge), (SECOND_VERDICTS, plan.second)):
        if one is not None:
            asyncio.run(_forget_changed(run, name, one))
    letters.awaited.clear()  # judging notes down what is awaited of it
    judge_run(run, judge, plan)
    return _hand_out(letters, folder)


async def _forget_changed(run: Run, name: LineFile[Any], judge: Judge) -> None:
    """Drop the verdicts that the replies there are now would not give."""
    hypotheses = run.dir.by_question(HYPOTHESES)
    questions = {q.question_id: q for q in run.digests(hypotheses)}
    lines = run.dir.records(name)
    kept = []
    for line in lines:
        question = questions.get(line["question_id"])
        if question is None or line.get("judge_hash") != judge.hash:
            continue  # judging would drop it as well
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
    """Have the judge ask about answers: its chat notes down what has no reply."""
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
