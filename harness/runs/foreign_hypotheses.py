"""Answers of any system, from the files that the official scorers take.

LongMemEval: lines with `question_id` and `hypothesis`. LoCoMo-Refined: lines with `qa_id`, or
`conversation_idx` and `qa_index`, and `predicted_answer` or `response`.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.assistants.encodable import encodable
from harness.datasets.files import read_records
from harness.errors import DatasetError
from harness.runs.digest import QuestionDigest
from harness.runs.run_dir import HYPOTHESES, RunDir

_IDS = ("question_id", "qa_id")
_TEXTS = ("hypothesis", "predicted_answer", "response")


def take_hypotheses(
    path: Path,
    run_dir: RunDir,
    wanted: Collection[str],
    questions: Sequence[QuestionDigest],
) -> int:
    """Copy the hypotheses of the wanted questions into a run directory; returns how many others
    were left out. `questions` are all of the data set; raises as `read_hypotheses` does.
    """
    lines = read_hypotheses(path, questions)
    taken = [line for question_id, line in lines.items() if question_id in wanted]
    run_dir.replace_lines(HYPOTHESES, taken)
    return len(lines) - len(taken)


def read_hypotheses(path: Path, questions: Sequence[QuestionDigest]) -> dict[str, dict[str, Any]]:
    """The hypotheses of a file by question id; `lines` in each tells how often the file holds it.

    `questions` are all of the data set. Raises `DatasetError` for a line without text, for two
    different hypotheses of one question, and for a file that answers no question of the data set.
    """
    lines: dict[str, dict[str, Any]] = {}
    order = list(dict.fromkeys(question.history_id for question in questions))
    for number, line in enumerate(read_records(path)):
        where = f"{path}: record {number}"
        question_id = _question_id(line, order, where)
        hypothesis = encodable(_text(line, _TEXTS, where))
        known = lines.get(question_id)
        if known is not None and known["hypothesis"] != hypothesis:
            raise DatasetError(f"{path}: two different hypotheses for question {question_id!r}")
        times = 1 if known is None else known["lines"] + 1
        lines[question_id] = {
            **line,
            "question_id": question_id,
            "hypothesis": hypothesis,
            "lines": times,
        }
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
