"""Corrected answers and evidence for LoCoMo, from a file somebody made by checking the data.

A record names its question by our id (`conv-26#q0001`), or by `locomo_0_qa1` as public audits of
the ten conversations do, and has `answer` or `correct_answer` (text, number or list), `evidence` or
`correct_evidence` (turn ids), or both.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.datasets.files import read_records
from harness.errors import DatasetError

_AUDITED = re.compile(r"locomo_(\d+)_qa(\d+)")
# Audits number the conversations in the order of the official file.
_OFFICIAL_ORDER = (26, 30, 41, 42, 43, 44, 47, 48, 49, 50)


@dataclass(frozen=True, slots=True)
class GoldCorrection:
    """New labels of a question; empty `answers`, or `evidence` None, leave the old ones."""

    answers: tuple[str, ...] = ()
    evidence: tuple[str, ...] | None = None


def read_corrections(path: Path) -> dict[str, GoldCorrection]:
    """Corrections by question id; raises `DatasetError` for a record that corrects nothing."""
    corrections: dict[str, GoldCorrection] = {}
    for number, record in enumerate(read_records(path)):
        where = f"{path}: record {number}"
        question_id = _question_id(record, where)
        if question_id in corrections:
            raise DatasetError(f"{where}: a second correction of {question_id}")
        corrections[question_id] = _correction(record, where)
    return corrections


def require_known(corrections: Mapping[str, GoldCorrection], ids: Iterable[str], path: Path) -> int:
    """Return how many of these questions are corrected; `DatasetError` if none is."""
    changed = len(corrections.keys() & set(ids))
    if not changed:
        raise DatasetError(f"{path}: corrects no question of this data set")
    return changed


def _question_id(record: Mapping[str, Any], where: str) -> str:
    name = record.get("question_id", record.get("qa_id"))
    if not isinstance(name, str):
        raise DatasetError(f"{where}: question_id: expected text, found {name!r}")
    audited = _AUDITED.fullmatch(name)
    if audited is None:
        return name
    conversation = int(audited[1])
    if conversation >= len(_OFFICIAL_ORDER):
        raise DatasetError(f"{where}: {name}: there are ten conversations")
    return f"conv-{_OFFICIAL_ORDER[conversation]}#q{int(audited[2]):04d}"


def _correction(record: Mapping[str, Any], where: str) -> GoldCorrection:
    answer = record.get("correct_answer", record.get("answer"))
    evidence = record.get("correct_evidence", record.get("evidence"))
    if answer is None and evidence is None:
        raise DatasetError(f"{where}: corrects neither answer nor evidence")
    answers = answer if isinstance(answer, list) else [] if answer is None else [answer]
    if evidence is not None and not isinstance(evidence, list):
        raise DatasetError(f"{where}: evidence: expected a list of turn ids")
    return GoldCorrection(
        answers=tuple(str(item) for item in answers),
        evidence=None if evidence is None else tuple(str(item) for item in evidence),
    )
