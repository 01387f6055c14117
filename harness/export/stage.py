"""From a run directory to one file in an official format."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from harness.compilation.instances import instances_of
from harness.datasets.longmemeval import Instance
from harness.datasets.questions import BEAM_ABILITIES, LOCOMO_CATEGORIES, LONGMEMEVAL_TYPES
from harness.datasets.registry import open_dataset
from harness.errors import RunMismatch, UsageError
from harness.export.hypotheses import (
    beam_results,
    locomo_samples,
    longmemeval_lines,
    longmemeval_log,
    refined_lines,
)
from harness.export.refined_scores import scored_records, summary_of, summary_page
from harness.export.retrieval_log import Granularity, log_lines
from harness.records.digest import QuestionDigest
from harness.records.manifest import Manifest, load_manifest
from harness.records.run_dir import HYPOTHESES, QUESTIONS, RETRIEVAL, VERDICTS, RunDir, ranked_lines
from harness.records.schema import JudgeRecord

# The formats of several files.
SCORED = "locomo-refined-scored"
BEAM = "beam"
Records = Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """`file` is the run's data file, which a retrieval log repeats; `fill` adds empty answers for
    missing ones; `name` is what LoCoMo's keys begin with, and what BEAM's files are called.
    """

    file: Path | None = None
    fill: bool = False
    name: str = "aide_memoire"


class Exported(NamedTuple):
    """How many records were written, and every file."""

    records: int
    files: list[Path]


def export(run_dir: RunDir, kind: str, out: Path, options: ExportOptions) -> Exported:
    """Write the file, and those that belong to it; `UsageError` for what cannot be exported."""
    manifest = load_manifest(run_dir)
    if manifest is None:
        raise UsageError(f"{run_dir.path} is not a run directory (no manifest.json)")
    if kind not in FORMATS:
        raise UsageError(f"unknown format {kind!r}, expected one of {', '.join(FORMATS)}")
    run = _Run(run_dir, manifest, options)
    records = FORMATS[kind](run)
    try:
        if kind == SCORED:
            return _write_scored(list(records), out, run.judge)
        if kind == BEAM:
            return _write_chats(list(records), out, options.name)
        return Exported(_write(records, out, whole=kind == "locomo"), [out])
    except OSError as error:
        raise UsageError(f"--out {out}: cannot be written ({error.strerror or error})") from error


def _write(records: Records, out: Path, *, whole: bool) -> int:
    count = 0
    partial = out.with_name(f".{out.name}.partial")
    with partial.open("w", encoding="utf-8", errors="backslashreplace") as file:
        if whole:
            listed = list(records)
            count = len(listed)
            json.dump(listed, file, ensure_ascii=False, indent=2)
        else:
            for record in records:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1
    partial.replace(out)
    return count


def _write_scored(
    records: Sequence[Mapping[str, Any]], out: Path, judge: JudgeRecord | None
) -> Exported:
    """The records, and their summary in two files beside them."""
    summary = summary_of(records, judge)
    in_json, in_words = (out.with_name(f"{out.stem}_summary.{end}") for end in ("json", "md"))
    count = _write(records, out, whole=False)
    in_json.write_text(json.dumps(summary, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    in_words.write_text(summary_page(summary), encoding="utf-8")
    return Exported(count, [out, in_json, in_words])


def _write_chats(records: Sequence[Mapping[str, Any]], out: Path, name: str) -> Exported:
    """A file for each chat, where the official script looks for it: `100K/1/<name>.json`."""
    files = []
    for record in records:
        size, _, number = record["chat"].rpartition("-")
        file = out / size / number / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record["results"], ensure_ascii=True, indent=4)
        file.write_text(text + "\n", encoding="utf-8")
        files.append(file)
    return Exported(len(files), files)


class _Run:
    """What the formats are made from."""

    def __init__(self, run_dir: RunDir, manifest: Manifest, options: ExportOptions) -> None:
        self.options = options
        self.hypotheses = run_dir.by_question(HYPOTHESES)
        self.retrieval = ranked_lines(run_dir.by_question(RETRIEVAL))
        self.verdicts = run_dir.by_question(VERDICTS)
        self.judge = manifest.data["judge"]
        lines = run_dir.by_question(QUESTIONS).values()
        self.questions = [QuestionDigest.from_json(line) for line in lines]
        self._data = manifest.data["dataset"]

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self._data["name"]

    def require_types(self, types: Collection[str], kind: str, benchmark: str) -> None:
        """Refuse a run on other data than the format is made for."""
        if not {question.question_type for question in self.questions} <= set(types):
            raise UsageError(f"the format {kind} is for runs on {benchmark}")

    def require_judge(self, kind: str) -> JudgeRecord:
        """Whose verdicts the run holds; refuses one that was not judged, and empty answers that
        no judge has seen.
        """
        if self.judge is None:
            raise UsageError(f"the format {kind} needs verdicts: judge the run first")
        if self.options.fill:
            raise UsageError(f"--fill-missing: the format {kind} holds only what was judged")
        return self.judge

    def instances(self) -> Iterator[Instance]:
        """The data again, which must be that of the run."""
        name, file = self._data["name"], self.options.file
        if file is None and self._data["file"] is not None:
            raise UsageError("a retrieval log needs the histories: add --file")
        dataset = open_dataset(name, file)
        if dataset.fingerprint.sha256() != self._data["sha256"]:
            raise RunMismatch(f"{file} is not the data of this run")
        return instances_of(dataset, file)


def _longmemeval(run: _Run) -> Records:
    return longmemeval_lines(run.questions, run.hypotheses, fill=run.options.fill)


def _longmemeval_log(run: _Run) -> Records:
    run.require_types(LONGMEMEVAL_TYPES, "longmemeval-log", "LongMemEval")
    judge = run.require_judge("longmemeval-log")
    return longmemeval_log(run.questions, run.hypotheses, run.verdicts, judge)


def _refined(run: _Run) -> Records:
    return refined_lines(run.questions, run.hypotheses, fill=run.options.fill)


def _refined_scored(run: _Run) -> Records:
    if run.dataset != "locomo-refined":
        raise UsageError(f"the format {SCORED} is for runs on locomo-refined")
    return scored_records(run.questions, run.hypotheses, run.verdicts, run.judge)


def _locomo(run: _Run) -> Records:
    run.require_types(LOCOMO_CATEGORIES.values(), "locomo", "LoCoMo")
    return locomo_samples(run.questions, run.hypotheses, run.retrieval, name=run.options.name)


def _beam(run: _Run) -> Records:
    run.require_types(BEAM_ABILITIES, BEAM, "BEAM")
    results = beam_results(run.questions, run.hypotheses)
    return [{"chat": chat, "results": abilities} for chat, abilities in results.items()]


def _log(granularity: Granularity) -> Callable[[_Run], Records]:
    return lambda run: log_lines(run.instances(), run.retrieval, granularity)


FORMATS: dict[str, Callable[[_Run], Records]] = {
    "longmemeval": _longmemeval,
    "longmemeval-log": _longmemeval_log,
    "locomo-refined": _refined,
    SCORED: _refined_scored,
    "locomo": _locomo,
    BEAM: _beam,
    "retrieval-log-session": _log("session"),
    "retrieval-log-turn": _log("turn"),
}
