"""How often judges agree with labels: the verdicts of finished runs against a file of labels."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.comparison.runs import short_names
from harness.datasets.files import read_records, sha256_of
from harness.datasets.questions import ABSTENTION
from harness.errors import DatasetError, UsageError
from harness.records.digest import QuestionDigest
from harness.records.manifest import load_manifest
from harness.records.run_dir import RunDir, read_run
from harness.records.schema import JudgeRecord, VerdictLine
from harness.report.table import Table, markdown_page, percent
from harness.statistics.paired_tests import Agreement, Bounded, agreement_of
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
    """Whether an answer is right, as `labeller` says. A label without a `hypothesis` is about
    whatever answer the question got.
    """

    question_id: str
    hypothesis: str | None
    is_right: bool
    labeller: str


def read_labels(path: Path) -> list[Label]:
    """The labels of a file in its order. Repeated labels count once, lines whose label is null are
    left out. Raises `DatasetError` for a line without a question or without a known label.

    The result files of LongMemEval's scorer (`autoeval_label`) can be read as they are.
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


STEM = "agreement"
_HEADER = (
    *("answers", "agree, %", "95 %", "kappa", "95 %", "only judge", "only label", "n"),
    "questions",
)
_NOTE = (
    "“Only judge” counts answers that the judge passes and the label does not, “only label” the "
    "others. Bounds draw questions with all their answers; those of an agreement are Wilson's "
    "where each question has one. A kappa is – where both always say the same."
)
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer with a judge's verdict on it, None where its reply was unreadable."""

    question: QuestionDigest
    hypothesis: str
    verdict: str | None


@dataclass(slots=True)
class JudgedBy:
    """All verdicts of one judge (id and hash) in these runs, by question and hypothesis. The same
    answer to a question counts once.
    """

    judge: JudgeRecord
    runs: list[str] = field(default_factory=list)
    answers: dict[str, dict[str, Judged]] = field(default_factory=dict)

    def add(self, run: str, judged: Iterable[Judged]) -> None:
        self.runs.append(run)
        for one in judged:
            self.answers.setdefault(one.question.question_id, {}).setdefault(one.hypothesis, one)


def agreement_with(file: Path, paths: Sequence[Path]) -> dict[str, Any]:
    """Compare every judge of these runs with the labels of a file; the result is plain data.

    Raises `UsageError` where there is no run or no label is about an answer of these runs.
    """
    labels = read_labels(file)
    judges = [_against(said_by, labels) for said_by in _judges_said(paths)]
    if not any(judge["labelled"] for judge in judges):
        raise UsageError(
            f"--labels {file}: no label is about an answer that was judged in these runs (labels "
            "name their question, and the answer word for word)"
        )
    by_labeller: dict[str, int] = {}
    for label in labels:
        by_labeller[label.labeller] = by_labeller.get(label.labeller, 0) + 1
    return {
        "labels": {"file": file.name, "sha256": sha256_of(file), "by_labeller": by_labeller},
        "judges": judges,
    }


def agreement_tables(found: Mapping[str, Any]) -> list[Table]:
    return [_table(judge) for judge in found["judges"]]


def write_agreement(found: Mapping[str, Any], out: Path) -> None:
    folder = RunDir(out)
    folder.create()
    labels = found["labels"]
    said = f"Labels: {labels['file']}, SHA-256 `{labels['sha256']}`."
    folder.replace(f"{STEM}.json", json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    page = markdown_page("Agreement of judges with labels", [said], agreement_tables(found))
    folder.replace(f"{STEM}.md", page)


def _judges_said(paths: Sequence[Path]) -> list[JudgedBy]:
    if len({path.resolve() for path in paths}) != len(paths):
        raise UsageError("a run is named twice")
    found: dict[tuple[str, str], JudgedBy] = {}
    for path, name in zip(paths, short_names(paths), strict=True):
        for judge, judged in _verdicts(path):
            said_by = found.setdefault((judge["id"], judge["hash"]), JudgedBy(judge))
            said_by.add(name, judged)
    if not found:
        raise UsageError("none of these runs was judged")
    return list(found.values())


def _verdicts(path: Path) -> Iterator[tuple[JudgeRecord, list[Judged]]]:
    manifest = load_manifest(RunDir(path))
    if manifest is None:
        raise UsageError(f"{path} is not a run directory (no manifest.json)")
    lines = read_run(RunDir(path), asks=manifest.asks)

    def judged(verdicts: Mapping[str, VerdictLine]) -> list[Judged]:
        return [
            Judged(
                question,
                lines.hypotheses[question.question_id]["hypothesis"],
                verdicts[question.question_id]["verdict"],
            )
            for question in lines.questions
            if question.question_id in verdicts and question.question_id in lines.hypotheses
        ]

    second = manifest.data.get("second_judge")
    if manifest.data["judge"]:
        yield manifest.data["judge"], judged(lines.verdicts)
    if second:
        yield second, judged(lines.second_verdicts)


Rating = tuple[Judged, Label]


def _against(said_by: JudgedBy, labels: Sequence[Label]) -> dict[str, Any]:
    matched = [(judged, label) for label in labels if (judged := _find(said_by, label)) is not None]
    read = [pair for pair in matched if pair[0].verdict is not None]
    kinds = sorted({_kind(judged.question) for judged, _ in read})
    labellers = dict.fromkeys(label.labeller for _, label in read)
    return {
        "judge": said_by.judge["id"],
        "judge_hash": said_by.judge["hash"],
        "runs": said_by.runs,
        "labelled": len(matched),
        "unscored": len(matched) - len(read),
        "not_here": len(labels) - len(matched),
        "overall": _rated(read),
        "by_type": {
            name: _rated([pair for pair in read if _kind(pair[0].question) == name])
            for name in kinds
        },
        "by_labeller": {
            name: _rated([pair for pair in read if pair[1].labeller == name]) for name in labellers
        },
    }


def _find(said_by: JudgedBy, label: Label) -> Judged | None:
    about = said_by.answers.get(label.question_id, {})
    if label.hypothesis is not None:
        return about.get(label.hypothesis)
    if len(about) > 1:
        raise UsageError(
            f"question {label.question_id}: its label names no hypothesis, and these runs have "
            "several; give one run, or labels with a hypothesis"
        )
    return next(iter(about.values()), None)


def _rated(pairs: Sequence[Rating]) -> Agreement:
    return agreement_of(
        [judged.verdict == "yes" for judged, _ in pairs],
        [label.is_right for _, label in pairs],
        [judged.question.question_id for judged, _ in pairs],
    )


def _kind(question: QuestionDigest) -> str:
    return ABSTENTION if question.is_abstention else question.question_type


def _table(judge: Mapping[str, Any]) -> Table:
    rows = [_row("all", judge["overall"])]
    rows += [_row(name, cell) for name, cell in judge["by_type"].items()]
    rows += [_row(f"by {name}", cell) for name, cell in judge["by_labeller"].items()]
    runs = judge["runs"]
    named = ", ".join(runs) if len(runs) <= _NAMED else f"{len(runs)} runs"
    note = (
        f"Judge {judge['judge']} ({judge['judge_hash']}) in {named}. Left out: "
        f"{judge['unscored']} unscored; {judge['not_here']} labels of other answers. {_NOTE}"
    )
    return Table(f"Agreement of {judge['judge']} with the labels", _HEADER, rows, note)


def _row(name: str, cell: Agreement) -> tuple[str, ...]:
    agreement, kappa = cell["agreement"], cell["kappa"]
    return (
        name,
        percent(agreement["value"]),
        _bounds(agreement, percent, "–"),
        _hundredths(kappa["value"]),
        _bounds(kappa, _hundredths, " to "),
        str(cell["only_first"]),
        str(cell["only_second"]),
        str(cell["n"]),
        str(cell["questions"]),
    )


def _bounds(figure: Bounded, shown: Callable[[float | None], str], between: str) -> str:
    return (
        "–" if figure["low"] is None else between.join(map(shown, (figure["low"], figure["high"])))
    )


def _hundredths(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")
