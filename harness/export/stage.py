"""Export of a run directory: to a file in an official format, to Inspect or to MLflow."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import IO, Any, NamedTuple

from harness.datasets.benchmark import Answered, Records
from harness.datasets.longmemeval import Instance
from harness.datasets.questions import LOCOMO_CATEGORIES
from harness.datasets.refined import MISSING, NO_VERDICT, name_of
from harness.datasets.registry import BENCHMARKS, open_dataset
from harness.errors import RunMismatch, UsageError, raising
from harness.export.inspect_log import inspect_log
from harness.export.longmemeval import Granularity, instances_of, log_lines
from harness.export.mlflow_run import log_to_mlflow
from harness.records.digest import QuestionDigest
from harness.records.manifest import Manifest, load_manifest
from harness.records.run_dir import (
    HYPOTHESES,
    QUESTIONS,
    RETRIEVAL,
    VERDICTS,
    RunDir,
    ranked_lines,
    read_run,
)
from harness.records.schema import JudgeRecord
from harness.report.build import build_report, write_report
from harness.report.table import Table, markdown_page, percent

EXPORTS = {one.name: one for known in BENCHMARKS.values() for one in known.exports}
RETRIEVAL_LOGS: dict[str, Granularity] = {
    "retrieval-log-session": "session",
    "retrieval-log-turn": "turn",
}
INSPECT, MLFLOW = "inspect", "mlflow"
FORMATS = (*EXPORTS, *RETRIEVAL_LOGS, INSPECT, MLFLOW)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """`file` is the run's data file, which a retrieval log repeats; `fill` adds empty answers for
    missing ones; `name` is what LoCoMo's keys begin with, and what BEAM's files are called;
    `tracking` is MLflow's server or store.
    """

    file: Path | None = None
    fill: bool = False
    name: str = "aide_memoire"
    tracking: str | None = None


class Exported(NamedTuple):
    """The number of records, and where they are: files, or a run of MLflow by its id."""

    records: int
    places: list[Path | str]


def export(run_dir: RunDir, kind: str, out: Path | None, options: ExportOptions) -> Exported:
    """Write the file, and those that belong to it; `UsageError` for what cannot be exported.

    MLflow has a store of its own and takes no `out`.
    """
    manifest = load_manifest(run_dir)
    if manifest is None:
        raise UsageError(f"{run_dir.path} is not a run directory (no manifest.json)")
    if kind not in FORMATS:
        raise UsageError(f"unknown format {kind!r}, expected one of {', '.join(FORMATS)}")
    if kind == MLFLOW:
        return _to_mlflow(run_dir, manifest, options.tracking)
    if out is None:
        raise UsageError(f"--format {kind} needs --out")
    if kind == INSPECT:
        return _write_inspect_log(run_dir, manifest, out)
    questions = run_dir.by_question(QUESTIONS).values()
    hypotheses, verdicts = run_dir.by_question(HYPOTHESES), run_dir.by_question(VERDICTS)
    run = Answered(
        manifest.data["dataset"]["name"],
        [QuestionDigest.from_json(line) for line in questions],
        hypotheses,
        ranked_lines(run_dir.by_question(RETRIEVAL)),
        verdicts,
        manifest.data["judge"],
        options.fill,
        options.name,
    )
    with raising(UsageError, f"--out {out}: cannot be written"):
        if kind in RETRIEVAL_LOGS:
            instances = _instances(manifest, options.file)
            return _write_lines(run, log_lines(instances, run.retrieval, RETRIEVAL_LOGS[kind]), out)
        chosen = EXPORTS[kind]
        chosen.require(run)
        return _WRITERS[chosen.written](run, chosen.records(run), out)


def _to_mlflow(run_dir: RunDir, manifest: Manifest, tracking: str | None) -> Exported:
    report = write_report(run_dir)
    run_id = log_to_mlflow(run_dir, manifest.data, report, tracking)
    return Exported(report["n"], [f"MLflow run {run_id}"])


def _write_inspect_log(run_dir: RunDir, manifest: Manifest, out: Path) -> Exported:
    if out.suffix != ".json":
        raise UsageError(f"--out {out}: Inspect reads a log whose name ends in .json")
    lines = read_run(run_dir, asks=manifest.asks)
    log = inspect_log(manifest.data, lines, build_report(lines, manifest))
    with raising(UsageError, f"--out {out}: cannot be written"), _replacing(out) as file:
        json.dump(log, file, ensure_ascii=False, indent=2)
    return Exported(len(lines.questions), [out])


def _write(records: Records, out: Path) -> int:
    count = 0
    with _replacing(out) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
    return count


@contextmanager
def _replacing(out: Path) -> Iterator[IO[str]]:
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.partial")
    with partial.open("w", encoding="utf-8", errors="backslashreplace") as file:
        yield file
    partial.replace(out)


def _write_lines(run: Answered, records: Records, out: Path) -> Exported:
    return Exported(_write(records, out), [out])


def _write_whole(run: Answered, records: Records, out: Path) -> Exported:
    listed = list(records)
    with _replacing(out) as file:
        json.dump(listed, file, ensure_ascii=False, indent=2)
    return Exported(len(listed), [out])


def _write_scored(run: Answered, records: Records, out: Path) -> Exported:
    listed = list(records)
    summary = summary_of(listed, run.model_judge)
    in_json, in_words = (out.with_name(f"{out.stem}_summary.{end}") for end in ("json", "md"))
    count = _write(listed, out)
    in_json.write_text(json.dumps(summary, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    in_words.write_text(summary_page(summary), encoding="utf-8")
    return Exported(count, [out, in_json, in_words])


def _write_chats(run: Answered, records: Records, out: Path) -> Exported:
    """A file for each chat, where the official script looks for it: `100K/1/<name>.json`."""
    files: list[Path | str] = []
    for record in list(records):
        size, _, number = record["chat"].rpartition("-")
        file = out / size / number / f"{run.name}.json"
        if not file.resolve().is_relative_to(out.resolve()):
            raise UsageError(f"the chat {record['chat']!r} would be written outside {out}")
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record["results"], ensure_ascii=True, indent=4)
        file.write_text(text + "\n", encoding="utf-8")
        files.append(file)
    return Exported(len(files), files)


_WRITERS: dict[str, Callable[[Answered, Records, Path], Exported]] = {
    "lines": _write_lines,
    "whole": _write_whole,
    "folder": _write_chats,
    "summary": _write_scored,
}


def _instances(manifest: Manifest, file: Path | None) -> Iterator[Instance]:
    data = manifest.data["dataset"]
    if file is None and data["file"] is not None:
        raise UsageError("a retrieval log needs the histories: add --file")
    dataset = open_dataset(data["name"], file)
    if dataset.fingerprint.sha256() != data["sha256"]:
        raise RunMismatch(f"{file} is not the data of this run")
    return instances_of(dataset, file)


def summary_of(records: Sequence[Mapping[str, Any]], judge: JudgeRecord | None) -> dict[str, Any]:
    """Means over all questions, 0 to 1, overall and by category; what could not be scored counts
    0, and is counted.
    """
    metrics = [*(["llm_score"] if judge else []), "f1_score", "bleu_score"]
    categories = dict.fromkeys(str(record["category"]) for record in records)
    return {
        "record_count": len(records),
        "missing_predictions": sum(MISSING in record["errors"] for record in records),
        "without_verdict": sum(NO_VERDICT in record["errors"] for record in records),
        "llm_judge": None if judge is None else name_of(judge),
        "judge": None if judge is None else {"id": judge["id"], "hash": judge["hash"]},
        "metrics": metrics,
        "primary_metric": metrics[0],
        "overall": _means(records, metrics),
        "by_category": {
            name: _means([r for r in records if r["category"] == name], metrics)
            for name in sorted(categories)
        },
    }


def summary_page(summary: Mapping[str, Any]) -> str:
    metrics = summary["metrics"]
    groups = {"all": summary["overall"]} | {
        f"{number} {LOCOMO_CATEGORIES[int(number)]}": cell
        for number, cell in summary["by_category"].items()
    }
    rows = [
        (name, *(percent(cell[metric]) for metric in metrics), str(cell["count"]))
        for name, cell in groups.items()
    ]
    judge = summary["judge"]
    said = f"Judge {judge['id']} ({judge['hash']})." if judge else "No language model judged."
    said += (
        f" {summary['missing_predictions']} questions have no prediction, and "
        f"{summary['without_verdict']} predictions no verdict; both count 0."
    )
    table = Table("Scores, %", ("category", *metrics, "n"), rows)
    return markdown_page("LoCoMo-Refined", [said], [table])


def _means(records: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> dict[str, Any]:
    means = {metric: fmean(record[metric] or 0.0 for record in records) for metric in metrics}
    return {"count": len(records), **means}
