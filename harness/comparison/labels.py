"""Labels that somebody gave answers: people, or another judge's model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.datasets.files import read_records
from harness.errors import DatasetError
from harness.text import encodable

_IDS = ("question_id", "qa_id")
_TEXTS = ("hypothesis", "predicted_answer", "response")
_LABELLERS = ("labeller", "judge_model")
_RIGHT: Mapping[Any, bool] = {
    **dict.fromkeys((True, 1, "1", "true", "yes", "correct", "right"), True),
    **dict.fromkeys((False, 0, "0", "false", "no", "wrong", "incorrect"), False),
}
UNNAMED = "not named"


@dataclass(frozen=True, slots=True)
class Label:
    """Whether an answer is right, as `labeller` says; without `hypothesis` it is about whatever
    answer the question got.
    """

    question_id: str
    hypothesis: str | None
    is_right: bool
    labeller: str


def read_labels(path: Path) -> list[Label]:
    """The labels of a file in its order, those that it repeats once; lines whose label is null are
    left out. Raises `DatasetError` for a line that names no question or no label that is known.

    The result files of LongMemEval's scorer (`autoeval_label`) are read as they are.
    """
    labels = [
        label
        for number, record in enumerate(read_records(path))
        if (label := _label(record, f"{path}: record {number}")) is not None
    ]
    return list(dict.fromkeys(labels))


def _label(record: Mapping[str, Any], where: str) -> Label | None:
    official = record.get("autoeval_label")
    told: Mapping[str, Any] = official if isinstance(official, Mapping) else record
    if "label" not in told:
        raise DatasetError(f"{where}: label: missing")
    if told["label"] is None:
        return None
    said = told["label"].strip().lower() if isinstance(told["label"], str) else told["label"]
    if not isinstance(said, str | int | float) or said not in _RIGHT:
        raise DatasetError(f"{where}: label {told['label']!r}: expected true, false, yes or no")
    question_id = _text(record, _IDS)
    if question_id is None:
        raise DatasetError(f"{where}: question_id: expected text")
    labeller = _text(told, ("model",)) if official is not None else _text(record, _LABELLERS)
    hypothesis = _text(record, _TEXTS)
    text = None if hypothesis is None else encodable(hypothesis)
    return Label(question_id, text, _RIGHT[said], labeller or UNNAMED)


def _text(record: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    value = next((record[name] for name in names if name in record), None)
    return value if isinstance(value, str) else None
