"""Answers of any system, from the files that the official scorers take.

LongMemEval: lines with `question_id` and `hypothesis`. LoCoMo-Refined: lines with `qa_id`, or
`conversation_idx` and `qa_index`, and `predicted_answer` or `response`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from harness.datasets.files import read_records
from harness.errors import DatasetError, RunMismatch
from harness.pipeline.run import Run
from harness.records.digest import QuestionDigest
from harness.records.run_dir import HYPOTHESES
from harness.records.schema import HypothesisLine
from harness.text import encodable

_IDS = ("question_id", "qa_id")
_TEXTS = ("hypothesis", "predicted_answer", "response")


def take_hypotheses(run: Run, path: Path) -> None:
    """Use another system's hypotheses in a run; its lines for other questions are left out, and
    counted aloud. Raises as `read_hypotheses` does.
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
