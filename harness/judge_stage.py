"""Verdicts for every hypothesis of a run directory; resumable, and redone when judge or hypothesis
changed.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.digest import QuestionDigest
from harness.encodable import encodable
from harness.errors import DatasetError
from harness.files import read_records
from harness.judges.base import Judge
from harness.run_dir import HYPOTHESES, VERDICTS, RunDir


async def judge_all(run_dir: RunDir, questions: Sequence[QuestionDigest], judge: Judge) -> int:
    """Judge what has no valid verdict yet; returns how many were judged now.

    A verdict is valid when the same judge (id and hash) gave it for the same hypothesis.
    """
    hypotheses = run_dir.by_question(HYPOTHESES)
    wanted = {
        question.question_id: _key(judge, hypotheses[question.question_id]["hypothesis"])
        for question in questions
        if question.question_id in hypotheses
    }
    old = run_dir.by_question(VERDICTS)
    valid = {key: line for key, line in old.items() if _key_of(line) == wanted.get(key)}
    if len(valid) != len(run_dir.records(VERDICTS)):
        run_dir.replace_lines(VERDICTS, valid.values())
    todo = [question for question in questions if question.question_id in wanted.keys() - valid]
    for question in todo:
        hypothesis = hypotheses[question.question_id]["hypothesis"]
        verdict = await judge.judge(question, hypothesis)
        run_dir.append(
            VERDICTS,
            {
                "question_id": question.question_id,
                "verdict": verdict.verdict,
                "judge": judge.id,
                "raw": verdict.raw,
                "judge_hash": judge.hash,
                "hypothesis_sha256": _fingerprint(hypothesis),
            },
        )
    return len(todo)


def take_hypotheses(path: Path, run_dir: RunDir, questions: Sequence[QuestionDigest]) -> int:
    """Copy the hypotheses of these questions into a run directory; returns how many others were
    left out.

    The file is JSON lines or a JSON array, as the official scorer takes it. Raises `DatasetError`
    for a line without text, and for two different hypotheses of one question.
    """
    lines: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(read_records(path)):
        question_id, hypothesis = line.get("question_id"), line.get("hypothesis")
        for name, value in (("question_id", question_id), ("hypothesis", hypothesis)):
            if not isinstance(value, str):
                kind = type(value).__name__
                raise DatasetError(f"{path}: record {number}: {name}: expected text, found {kind}")
        known = lines.get(str(question_id))
        if known is not None and known["hypothesis"] != encodable(str(hypothesis)):
            raise DatasetError(f"{path}: two different hypotheses for question {question_id!r}")
        lines[str(question_id)] = line | {"hypothesis": encodable(str(hypothesis))}
    wanted = [q.question_id for q in questions if q.question_id in lines]
    run_dir.replace_lines(HYPOTHESES, (lines[question_id] for question_id in wanted))
    return len(lines) - len(wanted)


def _key(judge: Judge, hypothesis: str) -> tuple[str, str, str]:
    return judge.id, judge.hash, _fingerprint(hypothesis)


def _key_of(line: dict[str, Any]) -> tuple[Any, Any, Any]:
    return line.get("judge"), line.get("judge_hash"), line.get("hypothesis_sha256")


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
