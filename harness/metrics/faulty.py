"""Faulty references: the dossier that names them, and figures with and without their questions.

A dossier says what is wrong with the references of some questions. It lies beside the data file,
or is named on the command line.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from harness.datasets.files import read_records
from harness.errors import DatasetError
from harness.metrics.retrieval_metrics import session_figures
from harness.records.digest import QuestionDigest
from harness.records.run_dir import RunLines, outcome_of
from harness.records.schema import FaultyLine
from harness.statistics.intervals import Share, proportion

_SUFFIX = ".dossier.jsonl"


def dossier_beside(file: Path) -> Path | None:
    """The dossier beside a data file: `data.dossier.jsonl` for `data.json`; None without one."""
    beside = file.with_name(file.name.split(".")[0] + _SUFFIX)
    return beside if beside.is_file() else None


def read_dossier(path: Path, ids: Iterable[str]) -> list[FaultyLine]:
    """The faults of these questions; raises `DatasetError` for a record that does not say what is
    wrong, and for a second one about a question.
    """
    faults: dict[str, FaultyLine] = {}
    for number, record in enumerate(read_records(path)):
        where = f"{path}: record {number}"
        line = _line(record, where)
        if line["question_id"] in faults:
            raise DatasetError(f"{where}: a second record of {line['question_id']}")
        faults[line["question_id"]] = line
    wanted = set(ids)
    return [line for key, line in faults.items() if key in wanted]


def _line(record: Mapping[str, Any], where: str) -> FaultyLine:
    for name in ("question_id", "wrong"):
        if not isinstance(record.get(name), str) or not record[name]:
            raise DatasetError(f"{where}: {name}: expected text")
    line: FaultyLine = {"question_id": record["question_id"], "wrong": record["wrong"]}
    if "answer" in record:
        line["answer"] = str(record["answer"])
    evidence = record.get("evidence", [])
    if not isinstance(evidence, list):
        raise DatasetError(f"{where}: evidence: expected a list")
    line["evidence"] = [str(item) for item in evidence]
    return line


_RECALL = ("recall_all@5", "recall_all@10")


class WithAndWithout(TypedDict):
    all: Share
    without: Share


class FaultyTable(TypedDict):
    """`faults` are those of selected questions; `figures` has an accuracy only for a judged run."""

    faults: list[FaultyLine]
    figures: dict[str, WithAndWithout]


def faulty_table(lines: RunLines, *, judged: bool) -> FaultyTable | None:
    """Figures with and without faulty references; None where the dossier names no question."""
    if not lines.faulty:
        return None
    figures: dict[str, WithAndWithout] = {}
    if judged:
        figures["accuracy"] = _both(lines, lines.questions, _is_right(lines))
    ranked = [q for q in lines.questions if _is_ranked(q, lines)]
    for name in _RECALL if ranked else ():
        figures[name] = _both(lines, ranked, _has_all(lines, name))
    return {"faults": list(lines.faulty.values()), "figures": figures}


def _both(
    lines: RunLines,
    questions: Sequence[QuestionDigest],
    passes: Callable[[QuestionDigest], bool],
) -> WithAndWithout:
    sound = [q for q in questions if q.question_id not in lines.faulty]
    return {
        "all": proportion(sum(map(passes, questions)), len(questions)),
        "without": proportion(sum(map(passes, sound)), len(sound)),
    }


def _is_right(lines: RunLines) -> Callable[[QuestionDigest], bool]:
    return lambda question: outcome_of(question, lines) == "yes"


def _is_ranked(question: QuestionDigest, lines: RunLines) -> bool:
    has_evidence = bool(question.evidence_session_ids) and not question.is_abstention
    return has_evidence and question.question_id in lines.retrieval


def _has_all(lines: RunLines, name: str) -> Callable[[QuestionDigest], bool]:
    return lambda q: session_figures(q, lines.retrieval[q.question_id])[name] == 1
