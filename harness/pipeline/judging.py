"""Verdicts for hypotheses and for controls. Judging can be resumed; a verdict is redone when its
judge or hypothesis has changed.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from harness.datasets.files import read_records
from harness.errors import DatasetError, RunMismatch, continuable
from harness.judges import Judge, Verdict
from harness.metrics.judge_table import Control, draw_controls
from harness.pipeline.run import CONTINUE, Run
from harness.records.digest import QuestionDigest
from harness.records.manifest import account_of
from harness.records.run_dir import (
    CONTROLS,
    HYPOTHESES,
    SECOND_VERDICTS,
    VERDICTS,
    L,
    LineFile,
    RunDir,
)
from harness.records.schema import HypothesisLine, JsonObject, JudgeRecord
from harness.spending import Meter, SpendingLimits
from harness.text import encodable

T = TypeVar("T")
R = TypeVar("R")
_IDS = ("question_id", "qa_id")
_TEXTS = ("hypothesis", "predicted_answer", "response")


def take_hypotheses(run: Run, path: Path) -> None:
    """Use another system's hypotheses in a run. Lines for questions that are not selected are left
    out, and their number is printed. Raises as `read_hypotheses` does.
    """
    if path.resolve() == (run.dir.path / HYPOTHESES).resolve():
        return
    if run.manifest.asks:
        raise RunMismatch(f"{run.dir.path} has hypotheses of its own: choose another --out")
    wanted = {question.question_id for question in run.selected}
    lines = read_hypotheses(path, run.dataset.outlines)
    taken = [line for question_id, line in lines.items() if question_id in wanted]
    run.dir.replace_lines(HYPOTHESES, taken)
    if others := len(lines) - len(taken):
        run.console.print(f"{others} hypotheses belong to no selected question: left out")


def read_hypotheses(path: Path, questions: Sequence[QuestionDigest]) -> dict[str, HypothesisLine]:
    """The hypotheses of a file by question id; `lines` in each tells how often the file holds it.

    `questions` are all of the data set. Raises `DatasetError` for a line without text, for two
    different hypotheses of one question, and for a file that answers no question of the data set.
    """
    lines: dict[str, HypothesisLine] = {}
    order = list(dict.fromkeys(question.history_id for question in questions))
    for number, line in enumerate(read_records(path)):
        where = f"{path}: record {number}"
        question_id = _question_id(line, order, where)
        hypothesis = encodable(_text(line, _TEXTS, where))
        known = lines.get(question_id)
        if known is not None and known["hypothesis"] != hypothesis:
            raise DatasetError(f"{path}: two different hypotheses for question {question_id!r}")
        times = 1 if known is None else known["lines"] + 1
        own = HypothesisLine(question_id=question_id, hypothesis=hypothesis, lines=times)
        lines[question_id] = cast(HypothesisLine, {**line, **own})
    if lines.keys().isdisjoint(question.question_id for question in questions):
        raise DatasetError(f"{path}: answers no question of this data set")
    return lines


def _question_id(line: Mapping[str, Any], order: Sequence[str], where: str) -> str:
    conversation, index = line.get("conversation_idx"), line.get("qa_index")
    if isinstance(conversation, int) and isinstance(index, int) and "qa_id" not in line:
        if not 0 <= conversation < len(order):
            raise DatasetError(f"{where}: conversation_idx: there are {len(order)} conversations")
        return f"{order[conversation]}#q{index:04d}"
    return _text(line, _IDS, where)


def _text(line: Mapping[str, Any], names: Sequence[str], where: str) -> str:
    name = next((name for name in names if name in line), names[0])
    value = line.get(name)
    if not isinstance(value, str):
        raise DatasetError(f"{where}: {name}: expected text, found {type(value).__name__}")
    return value


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """How to judge: a second judge, whose disagreement is reported; the number of `controls` of the
    first judge, drawn with `seed`; the verdicts under way at a time; and the limits of spending.
    """

    second: Judge | None = None
    controls: int = 20
    seed: int = 0
    concurrency: int = 4
    limits: SpendingLimits = field(default_factory=SpendingLimits)


@dataclass(frozen=True, slots=True)
class Item:
    """One hypothesis to be judged; `labels` are further fields that name it in its file."""

    question: QuestionDigest
    hypothesis: str
    labels: Mapping[str, Any] = field(default_factory=dict)


def judge_run(run: Run, judge: Judge, plan: JudgePlan | None = None) -> None:
    """Judge the hypotheses that have no valid verdict yet, and controls of the judge."""
    plan = plan or JudgePlan()
    judges = [judge, plan.second]
    meters = meters_of(judges)
    run.limit_spending(plan.limits, meters)
    run.manifest.begin("judge", judge=judge.id)
    run.manifest.set_judges(_record(judge), _record(plan.second) if plan.second else None)
    with continuable(CONTINUE), run.manifest.ending():
        asyncio.run(_judge_run(run, judge, plan, meters))


def meters_of(judges: Sequence[Judge | None]) -> list[Meter]:
    return [judge.meter for judge in judges if judge is not None and judge.meter is not None]


async def _judge_run(run: Run, judge: Judge, plan: JudgePlan, meters: Sequence[Meter]) -> None:
    hypotheses = run.dir.by_question(HYPOTHESES)
    questions = run.digests(hypotheses)
    said = {key: line["hypothesis"] for key, line in hypotheses.items()}
    controls = draw_controls(questions, said, sample=plan.controls, seed=plan.seed)

    def judged() -> None:
        if meters:  # without a model nothing is paid, and much is judged in a moment
            run.manifest.tick(**account_of(meters))

    answers = [Item(question, said[question.question_id]) for question in questions]
    made_up = [Item(one.question, one.hypothesis, _labels(one)) for one in controls]
    try:
        await _judge_items(run.dir, VERDICTS, answers, judge, plan.concurrency, judged)
        await _judge_items(run.dir, CONTROLS, made_up, judge, plan.concurrency, judged)
        if plan.second:
            name, second = SECOND_VERDICTS, plan.second
            await _judge_items(run.dir, name, answers, second, plan.concurrency, judged)
    finally:
        judged()
        await judge.close()
        if plan.second:
            await plan.second.close()


def _record(judge: Judge) -> JudgeRecord:
    return cast(JudgeRecord, {"id": judge.id, "hash": judge.hash, **judge.account})


def _labels(control: Control) -> dict[str, Any]:
    return {"control": control.kind, "donor": control.donor, "hypothesis": control.hypothesis}


async def _judge_items(
    run_dir: RunDir,
    name: LineFile[L],
    items: Sequence[Item],
    judge: Judge,
    concurrency: int,
    judged: Callable[[], None],
) -> None:
    """Judge what has no valid verdict yet. A verdict is valid if the same judge (id and hash) gave
    it for the same hypothesis, and its line records no `error` of the judge's model.
    """
    wanted = {_key(judge, item): item for item in items}
    old = run_dir.records(name)
    valid = {_key_of(line): line for line in old if "error" not in line}
    kept = {key: line for key, line in valid.items() if key in wanted}
    if len(kept) != len(old):
        run_dir.replace_lines(name, kept.values())
    todo = [item for key, item in wanted.items() if key not in kept]

    async def verdict_on(item: Item) -> Verdict:
        return await judge.judge(item.question, item.hypothesis)

    async for item, verdict in in_order(todo, verdict_on, concurrency):
        run_dir.append(name, cast(L, _line(judge, item, verdict)))
        judged()


async def in_order(
    items: Sequence[T], work: Callable[[T], Awaitable[R]], concurrency: int
) -> AsyncGenerator[tuple[T, R], None]:
    """Yield each item with the result of `work` on it, in order; `concurrency` run at a time."""
    gate = asyncio.Semaphore(concurrency)

    async def one(item: T) -> R:
        async with gate:
            return await work(item)

    tasks = [asyncio.create_task(one(item)) for item in items]
    try:
        for item, task in zip(items, tasks, strict=True):
            yield item, await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _line(judge: Judge, item: Item, verdict: Verdict) -> JsonObject:
    return {
        "question_id": item.question.question_id,
        **item.labels,
        "verdict": verdict.verdict,
        "judge": judge.id,
        "raw": verdict.raw,
        "certainty": verdict.certainty,
        "judge_hash": judge.hash,
        "hypothesis_sha256": _fingerprint(item.hypothesis),
        **verdict.details,
    }


def _key(judge: Judge, item: Item) -> tuple[Any, ...]:
    question_id, control = item.question.question_id, item.labels.get("control")
    return question_id, control, judge.id, judge.hash, _fingerprint(item.hypothesis)


def _key_of(line: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("question_id", "control", "judge", "judge_hash", "hypothesis_sha256")
    return tuple(line.get(name) for name in names)


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
