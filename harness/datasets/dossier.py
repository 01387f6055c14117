"""A dossier: questions whose reference is faulty, with what is wrong. It lies beside the data file,
or is named on the command line; scores are given with and without these questions.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.datasets.files import read_records
from harness.errors import DatasetError
from harness.records.schema import FaultyLine

_SUFFIX = ".dossier.jsonl"


def dossier_beside(file: Path) -> Path | None:
    """The dossier that a data file carries: `data.json` has `data.dossier.jsonl`."""
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
