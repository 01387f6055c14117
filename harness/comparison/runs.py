"""Finished runs as a comparison takes them: named, read whole, with their reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.records.lines import RunLines, read_run
from harness.records.manifest import Manifest, load_manifest
from harness.records.run_dir import RunDir
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
        """Whether it has verdicts."""
        return self.report["accuracy"] is not None


def load_runs(paths: Sequence[Path]) -> list[ComparedRun]:
    """Read run directories; raises `UsageError` where there is none, or two are the same."""
    if len({path.resolve() for path in paths}) != len(paths):
        raise UsageError("a run cannot be compared with itself: name different directories")
    return [read_run_at(path, name) for path, name in zip(paths, short_names(paths), strict=True)]


def load_run(path: Path) -> ComparedRun:
    """Read one run directory, named after its folder."""
    return read_run_at(path, short_names([path])[0])


def short_names(paths: Sequence[Path]) -> list[str]:
    """The last part of each path, and as many parts before it as tell them all apart."""
    parts = [path.resolve().parts for path in paths]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]


def read_run_at(path: Path, name: str) -> ComparedRun:
    """Read one run directory under a given name."""
    run_dir = RunDir(path)
    manifest: Manifest | None = load_manifest(run_dir)
    if manifest is None:
        raise UsageError(f"{path} is not a run directory (no manifest.json)")
    lines = read_run(run_dir, asks=manifest.asks)
    return ComparedRun(name, manifest.data, lines, build_report(lines, manifest))
