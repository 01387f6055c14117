"""Finished runs for a comparison: reading them with their reports, deciding whether they may be
compared, and listing how their set-ups differ.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from harness.errors import RunMismatch, UsageError
from harness.records.manifest import PLACE_SETTINGS, Manifest, load_manifest
from harness.records.run_dir import RunDir, RunLines, read_run
from harness.records.schema import ManifestData
from harness.report.build import build_report
from harness.report.schema import Report


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One run directory under a short name; `report` is built from its files, not read."""

    name: str
    manifest: ManifestData
    lines: RunLines
    report: Report

    @property
    def is_judged(self) -> bool:
        return self.report["accuracy"] is not None


def load_runs(paths: Sequence[Path]) -> list[ComparedRun]:
    """Read run directories; raises `UsageError` for a path without a run, or named twice."""
    if len({path.resolve() for path in paths}) != len(paths):
        raise UsageError("a run cannot be compared with itself: name different directories")
    return [read_run_at(path, name) for path, name in zip(paths, short_names(paths), strict=True)]


def load_run(path: Path) -> ComparedRun:
    return read_run_at(path, short_names([path])[0])


def short_names(paths: Sequence[Path]) -> list[str]:
    """The last parts of each path, as few as make all names different."""
    parts = [path.resolve().parts for path in paths]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]


def read_run_at(path: Path, name: str) -> ComparedRun:
    run_dir = RunDir(path)
    manifest: Manifest | None = load_manifest(run_dir)
    if manifest is None:
        raise UsageError(f"{path} is not a run directory (no manifest.json)")
    lines = read_run(run_dir, asks=manifest.asks)
    return ComparedRun(name, manifest.data, lines, build_report(lines, manifest))


_ACCOUNT = ("mode", "approach", "filters", "assistant", "harness_version")


_Level = Literal["ranked_sessions", "ranked_rounds"]
_LEVELS: dict[_Level, str] = {"ranked_sessions": "sessions", "ranked_rounds": "rounds"}
# The deepest cut-off of a comparison's figures.
_DEEPEST = 10


def require_comparable(runs: Sequence[ComparedRun], *, anyway: bool) -> list[str]:
    """The reasons why the runs' figures cannot be compared, as sentences; with any reason, raises
    `RunMismatch` unless `anyway`."""
    problems = list(_problems(runs))
    if problems and not anyway:
        raise RunMismatch(
            f"these runs cannot be compared: {'; '.join(problems)}. --anyway compares them all the "
            "same and says so in every output"
        )
    return problems


def _problems(runs: Sequence[ComparedRun]) -> Iterator[str]:
    first = runs[0]
    for run in runs[1:]:
        was, now = first.manifest["dataset"], run.manifest["dataset"]
        for field in ("name", "sha256", "gold"):
            if was[field] != now[field]:
                yield _differ(first, run, f"data ({field})", was[field], now[field])
        judges = first.manifest["judge"], run.manifest["judge"]
        if judges[0] and judges[1] and _rules(judges[0]) != _rules(judges[1]):
            names = _judge_name(judges[0]), _judge_name(judges[1])
            yield _differ(first, run, "judge", *names)


def cautions(runs: Sequence[ComparedRun]) -> list[str]:
    """Warnings to the reader about runs that can be compared."""
    found = []
    for run in runs:
        counts = run.report
        silent = counts["missing"] - counts["failed"]
        if run.is_judged and silent > 0:
            found.append(
                f"{run.name}: {silent} questions were neither answered nor failed (the run may be "
                "unfinished); they count as wrong"
            )
        if run.manifest["dataset"]["sha256"] is None:
            found.append(f"{run.name}: its data file was never hashed, it may be another one")
    versions = {run.manifest["harness_version"] for run in runs}
    if len(versions) > 1:
        found.append(f"made by different versions of the harness: {', '.join(sorted(versions))}")
    return found + [said for level in _LEVELS if (said := _unequal_depth(runs, level))]


def _unequal_depth(runs: Sequence[ComparedRun], level: _Level) -> str | None:
    counts = {
        run.name: [len(line[level]) for line in run.lines.retrieval.values() if line[level]]
        for run in runs
    }
    depths = {name: median(lengths) for name, lengths in counts.items() if lengths}
    if len(set(depths.values())) < 2 or min(depths.values()) >= _DEEPEST:
        return None
    told = ", ".join(f"{depth:g} in {name}" for name, depth in depths.items())
    return (
        f"recall is compared at unequal depth: {_LEVELS[level]} ranked for a question (median): "
        f"{told}. What a run does not rank counts as not found"
    )


def set_up_differences(runs: Sequence[ComparedRun]) -> dict[str, list[Any]]:
    """Every setting that differs between runs: its dotted name, and a value for each run."""
    flat = [dict(_flat(set_up(run))) for run in runs]
    names = sorted({name for settings in flat for name in settings})
    values = {name: [settings.get(name) for settings in flat] for name in names}
    return {name: row for name, row in values.items() if any(v != row[0] for v in row)}


def set_up(run: ComparedRun) -> dict[str, object]:
    """The set-up of a run: mode, selection, and the assistant as it describes itself, or its
    address where it does not.
    """
    account: dict[str, object] = {name: run.manifest.get(name) for name in _ACCOUNT}
    known: Mapping[str, object] = run.manifest["assistant"] or {}
    tells = bool(known.get("version"))
    assistant = {k: v for k, v in known.items() if k != "url" or not tells}
    return account | {"assistant": assistant}


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield name, value
        return
    for key, inner in value.items():
        # A server's address and folder do not change its answers.
        if key not in PLACE_SETTINGS:
            yield from _flat(inner, f"{name}.{key}" if name else key)


def _rules(judge: Mapping[str, Any]) -> tuple[Any, ...]:
    return judge["id"], judge["hash"]


def _judge_name(judge: Mapping[str, Any]) -> str:
    return f"{judge['id']} {judge['hash']}"


def _differ(first: ComparedRun, run: ComparedRun, what: str, was: Any, now: Any) -> str:
    return f"another {what}: {was} in {first.name}, {now} in {run.name}"
