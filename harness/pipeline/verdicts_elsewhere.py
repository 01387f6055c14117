"""Verdicts given elsewhere: a judge's prompts go into a folder, and the replies to them are read as
its model's.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import RunMismatch, UsageError
from harness.handout.folder import PromptFolder
from harness.handout.replies import Replies
from harness.judges.base import Judge, Verdict
from harness.judges.controls import draw_controls
from harness.judges.deferred_chat import ID_BEGINS, Correspondence
from harness.judges.openai_chat import ModelReply
from harness.pipeline.judging import JudgePlan, judge_run
from harness.pipeline.run import Run
from harness.records.digest import QuestionDigest
from harness.records.run_dir import CONTROLS, HYPOTHESES, SECOND_VERDICTS, VERDICTS, LineFile


def correspondence_of(replies: Replies) -> Correspondence:
    """The replies as judges take them, each by the id of its request."""
    return Correspondence(
        {
            name: ModelReply(r.text, r.finish_reason, r.prompt_tokens, r.completion_tokens)
            for name, r in replies.by_id.items()
        }
    )


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
    """Whether a line holds this verdict."""
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
