"""The manifest of a run directory for one selection of questions: a new one, or the old one if it
is of the same run.
"""

from pathlib import Path
from typing import Literal

from harness.datasets.dataset import Dataset
from harness.datasets.editions import edition_of
from harness.datasets.selection import Filters
from harness.errors import UsageError
from harness.records.manifest import FORMAT, Manifest, difference, load_manifest, now
from harness.records.run_dir import RunDir
from harness.records.schema import DataRecord, FiltersRecord, GoldRecord, ManifestData
from harness.replay.blinding import new_salt
from harness.version import git_state, harness_version

# A large file is known by its name and size until it is hashed.
_KNOWN_AT_ONCE: tuple[Literal["name", "size", "gold"], ...] = ("name", "size", "gold")


def open_manifest(
    run_dir: RunDir, dataset: Dataset, filters: Filters, *, salt: str | None = None
) -> Manifest:
    """The directory's manifest: a new one, or the old one if data and filters agree (else
    `RunMismatch`).

    `salt` gives a new run the opaque names of another one, whose histories it uses.
    """
    run_dir.create()
    manifest = load_manifest(run_dir)
    if manifest is None:
        manifest = Manifest(run_dir, _new(dataset, filters, salt or new_salt()))
        manifest.save()
        return manifest
    _require_same_data(manifest, dataset)
    if salt and manifest.salt != salt:
        raise manifest.mismatch("--ingested", "it belongs to another run (different user names)")
    was, wanted = manifest.data["filters"], _plain(filters)
    if was != wanted:
        raise manifest.mismatch("selection", difference(was, wanted))
    return manifest


def salt_of(ingested: Path) -> str:
    """The salt of another run's directory, whose histories are to be used."""
    manifest = load_manifest(RunDir(ingested))
    if manifest is None:
        raise UsageError(f"--ingested {ingested}: there is no run in it")
    return manifest.salt


def _require_same_data(manifest: Manifest, dataset: Dataset) -> None:
    was, found = manifest.data["dataset"], _data(dataset)
    for field in _KNOWN_AT_ONCE:
        if was[field] != found[field]:
            detail = f"{field} {was[field]!r} then, {found[field]!r} now"
            raise manifest.mismatch("data file", detail)
    if found["sha256"] is not None:
        manifest.settle_data(found["sha256"], found["edition"])


def _new(dataset: Dataset, filters: Filters, salt: str) -> ManifestData:
    return {
        "format": FORMAT,
        "harness_version": harness_version(),
        "git": git_state(),
        "created_at": now(),
        "dataset": _data(dataset),
        "filters": _plain(filters),
        "selected": None,
        "mode": None,
        "approach": None,
        "assistant": None,
        "judge": None,
        "second_judge": None,
        "invocations": [],
        "wall_seconds": 0.0,
        "salt": salt,
    }


def _data(dataset: Dataset) -> DataRecord:
    sha256, gold = dataset.early_sha256(), dataset.gold
    return {
        "name": dataset.name,
        "file": dataset.file,
        "size": dataset.size,
        "sha256": sha256,
        "edition": None if sha256 is None else edition_of(sha256),
        "questions": len(dataset.outlines) if dataset.is_listed else None,
        "gold": None
        if gold is None
        else GoldRecord(file=gold.file, sha256=gold.sha256, changed=gold.changed),
    }


def _plain(filters: Filters) -> FiltersRecord:
    return {
        "types": list(filters.types),
        "ids": list(filters.ids),
        "per_type": filters.per_type,
        "seed": filters.seed,
        "limit": filters.limit,
    }
