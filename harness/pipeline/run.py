"""One run directory, opened for one selection of questions: what every stage of a run works on.

The selection is known at once; for a large file it is completed while the run goes on.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal, cast

from rich.console import Console

from harness import git_state, harness_version
from harness.datasets.dataset import Dataset
from harness.datasets.questions import Question, digest_of
from harness.datasets.registry import edition_of, open_source
from harness.datasets.selection import Filters, QuestionSource, select, select_gradually
from harness.errors import UsageError
from harness.metrics.faulty import dossier_beside, read_dossier
from harness.pipeline.progress import ReplayProgress, make_progress
from harness.records.digest import QuestionDigest
from harness.records.machine import machine
from harness.records.manifest import (
    FORMAT,
    Manifest,
    all_meters,
    difference,
    load_manifest,
    meters_beside,
    now,
)
from harness.records.plan import PLAN, KeptPlan, read_plan
from harness.records.run_dir import DOSSIER, INGEST, QUESTIONS, RunDir
from harness.records.schema import DataRecord, FiltersRecord, ManifestData
from harness.replay.ingest import new_salt
from harness.report.build import write_report
from harness.report.plan import data_deviations
from harness.report.schema import Report
from harness.spending import Budget, Meter, SpendingLimits

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
    was, wanted = manifest.data["filters"], plain_filters(filters)
    if was != wanted:
        raise manifest.mismatch("selection", difference(was, wanted))
    return manifest


def manifest_of(ingested: Path) -> Manifest:
    """The manifest of another run's directory, whose histories are to be used."""
    manifest = load_manifest(RunDir(ingested))
    if manifest is None:
        raise UsageError(f"--ingested {ingested}: there is no run in it")
    if manifest.data.get("forgotten"):
        raise UsageError(
            f"--ingested {ingested}: the assistant has forgotten its histories; make a run with "
            "--keep for it"
        )
    return manifest


def _as_begun(filters: Filters, begun: Manifest | None) -> Filters:
    """Keep the way of drawing of a begun run, also for a run that uses its histories."""
    was = begun.data["filters"] if begun else None
    if was is None or (was["limit"] is None and was["per_type"] is None):
        return filters
    return replace(filters, spread=was.get("spread", False))


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
        "machine": machine(),
        "created_at": now(),
        "dataset": _data(dataset),
        "filters": plain_filters(filters),
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
    sha256 = dataset.early_sha256()
    return {
        "name": dataset.name,
        "file": dataset.file,
        "size": dataset.size,
        "sha256": sha256,
        "edition": None if sha256 is None else edition_of(sha256),
        "questions": len(dataset.outlines) if dataset.is_listed else None,
        "gold": dataset.gold,
    }


def plain_filters(filters: Filters) -> FiltersRecord:
    """Filters as a manifest keeps them; fields that old versions lack only where they matter."""
    lists = {"types": list(filters.types), "ids": list(filters.ids)}
    plain = asdict(filters) | lists
    if not (filters.draws and filters.spread):
        del plain["spread"]
    if filters.split is None:
        del plain["split"]
    return cast(FiltersRecord, plain)


CONTINUE = "Nothing finished is lost: run the same command again to continue."


class Run:
    """The directory, its manifest and the questions; `console` is where progress is told."""

    def __init__(
        self,
        source: QuestionSource,
        out: Path,
        console: Console,
        *,
        ingested: Path | None = None,
        beside: Sequence[Path] = (),
        plan: Path | None = None,
    ) -> None:
        """`ingested` is another run's directory whose histories are used; what was spent in the
        directories `beside` counts, too. `plan` is what the run is to show; a run that was begun
        without one takes none.
        """
        self.console = console
        planned = None if plan is None else (plan.name, read_plan(plan))  # refuses early, too
        self.dir = RunDir(out)
        self.dataset: Dataset = open_source(source)
        if self.dataset.is_listed:
            select(self.dataset.outlines, source.filters)  # refuses before anything is written
        shared = None if ingested is None else manifest_of(ingested)
        salt = None if shared is None else shared.salt
        self._filters = _as_begun(source.filters, load_manifest(self.dir) or shared)
        self.manifest: Manifest = open_manifest(self.dir, self.dataset, self._filters, salt=salt)
        self._beside = beside
        self._dossier = dossier_beside(source.file) if source.file else None
        self._selected: list[QuestionDigest] | None = None
        if self.manifest.is_settled and self.dir.has(QUESTIONS):
            lines = self.dir.by_question(QUESTIONS).values()
            self._selected = [QuestionDigest.from_json(line) for line in lines]
        elif self.dataset.is_listed or self._filters.draws:
            self.settle_selection()
        if planned is not None:
            self._adopt(*planned)

    def _adopt(self, name: str, kept: KeptPlan) -> None:
        """Keep the plan as it is now; say at once where the data are not those of the plan."""
        self.manifest.adopt_plan({"file": name, "sha256": kept.sha256})
        self.dir.replace(PLAN, kept.text)
        for deviation in data_deviations(kept.plan, self.manifest.data):
            self.console.print(f"not as planned: {deviation}", style="yellow", highlight=False)

    @property
    def is_settled(self) -> bool:
        return self._selected is not None

    @property
    def selected(self) -> list[QuestionDigest]:
        """All selected questions; waits until they are found."""
        return self.settle_selection() if self._selected is None else self._selected

    def settle_selection(self) -> list[QuestionDigest]:
        """Find all selected questions and write them down; raises for wrong data or filters."""
        outlines = self.dataset.outlines
        chosen = select(outlines, self._filters)
        lines = {question.question_id: question.to_json() for question in chosen}
        lines |= self.dir.by_question(QUESTIONS)  # those that were read meanwhile
        self.dir.replace_lines(QUESTIONS, lines.values())
        self.manifest.settle_selection(questions=len(outlines), selected=len(chosen))
        self._selected = chosen
        return chosen

    def histories(self, is_wanted: Callable[[str], bool]) -> Iterator[list[Question]]:
        """The selected questions with wanted ids, those of one history together."""
        if self._selected is not None:
            ids = {q.question_id for q in self._selected if is_wanted(q.question_id)}
            yield from self.dataset.histories(ids)
            return
        for outline in select_gradually(self.dataset.listed, self._filters):
            if is_wanted(outline.question_id):
                yield list(self.dataset.read({outline.question_id}))

    def histories_kept(self) -> list[str]:
        """The histories that were brought in, by id; none where they have been forgotten."""
        return [] if self.manifest.data.get("forgotten") else list(self.dir.by_history(INGEST))

    def digests(self, ids: Collection[str]) -> list[QuestionDigest]:
        """The selected questions among these, complete: missing parts are read from the data."""
        lines = self.dir.by_question(QUESTIONS)
        unread = {name for name in ids if name in lines and not lines[name]["is_read"]}
        for question in self.dataset.read(unread) if unread else ():
            line = digest_of(question).to_json()
            self.dir.append(QUESTIONS, line)
            lines[question.question_id] = line
        return [QuestionDigest.from_json(lines[name]) for name in lines if name in ids]

    def limit_spending(self, limits: SpendingLimits, meters: Sequence[Meter]) -> None:
        """Hold this command's meters to a budget that counts what was spent before and beside."""
        Budget(limits, [*all_meters(self.manifest, meters), *meters_beside(self._beside)])

    def progress(self, total: int | None, finished: int) -> ReplayProgress:
        """A display for `total` questions (None: not known yet), `finished` of them done before."""
        return make_progress(self.console, total=total, finished=finished)

    def report(self) -> Report:
        sha256 = self.dataset.fingerprint.sha256()
        self.manifest.settle_data(sha256, edition_of(sha256))
        if self._dossier is not None:
            faults = read_dossier(self._dossier, (q.question_id for q in self.selected))
            self.dir.replace_lines(DOSSIER, faults)
        return write_report(self.dir)
