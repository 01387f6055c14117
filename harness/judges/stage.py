"""Verdicts for hypotheses, and for controls; resumable, and redone when judge or hypothesis
changed.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.judges.base import Judge, Verdict
from harness.judges.controls import Control
from harness.runs.digest import QuestionDigest
from harness.runs.run_dir import CONTROLS, HYPOTHESES, VERDICTS, RunDir


@dataclass(frozen=True, slots=True)
class Item:
    """One hypothesis to be judged; `labels` are further fields that name it in its file."""

    question: QuestionDigest
    hypothesis: str
    labels: Mapping[str, Any] = field(default_factory=dict)


def _nothing() -> None:
    pass


async def judge_all(
    run_dir: RunDir,
    questions: Sequence[QuestionDigest],
    judge: Judge,
    *,
    name: str = VERDICTS,
    concurrency: int = 1,
    judged: Callable[[], None] = _nothing,
) -> int:
    """Judge every hypothesis that has no valid verdict yet; returns how many were judged now.

    A verdict is valid when the same judge (id and hash) gave it for the same hypothesis, and not
    for want of an answer from its model. `judged` is called after each new one.
    """
    hypotheses = run_dir.by_question(HYPOTHESES)
    items = [
        Item(question, hypotheses[question.question_id]["hypothesis"])
        for question in questions
        if question.question_id in hypotheses
    ]
    return await _judge_items(run_dir, name, items, judge, concurrency, judged)


async def judge_controls(
    run_dir: RunDir,
    controls: Sequence[Control],
    judge: Judge,
    *,
    concurrency: int = 1,
    judged: Callable[[], None] = _nothing,
) -> int:
    """Judge every control that has no valid verdict yet, like hypotheses."""
    items = [
        Item(
            control.question,
            control.hypothesis,
            {"control": control.kind, "donor": control.donor, "hypothesis": control.hypothesis},
        )
        for control in controls
    ]
    return await _judge_items(run_dir, CONTROLS, items, judge, concurrency, judged)


async def _judge_items(
    run_dir: RunDir,
    name: str,
    items: Sequence[Item],
    judge: Judge,
    concurrency: int,
    judged: Callable[[], None],
) -> int:
    wanted = {_key(judge, item): item for item in items}
    old = run_dir.records(name)
    valid = {_key_of(line): line for line in old if "error" not in line}
    kept = {key: line for key, line in valid.items() if key in wanted}
    if len(kept) != len(old):
        run_dir.replace_lines(name, kept.values())
    todo = [item for key, item in wanted.items() if key not in kept]
    async for item, verdict in _verdicts(todo, judge, concurrency):
        run_dir.append(name, _line(judge, item, verdict))
        judged()
    return len(todo)


async def _verdicts(
    items: Sequence[Item], judge: Judge, concurrency: int
) -> AsyncIterator[tuple[Item, Verdict]]:
    """Verdicts in the order of the items, so many of them under way at a time."""
    gate = asyncio.Semaphore(concurrency)

    async def one(item: Item) -> Verdict:
        async with gate:
            return await judge.judge(item.question, item.hypothesis)

    tasks = [asyncio.create_task(one(item)) for item in items]
    try:
        for item, task in zip(items, tasks, strict=True):
            yield item, await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _line(judge: Judge, item: Item, verdict: Verdict) -> dict[str, Any]:
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
