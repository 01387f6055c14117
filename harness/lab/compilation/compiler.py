"""Compiles a data set into a file of new histories with a manifest, instance by instance. The bytes
are the same every time.
"""

import gzip
import json
import lzma
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from rich.console import Console
from rich.progress import track

from harness import git_state, harness_version
from harness.datasets.dataset import Dataset
from harness.datasets.files import SUFFIXES, sha256_of
from harness.datasets.registry import BENCHMARKS, open_dataset
from harness.datasets.selection import QuestionSource, select
from harness.errors import DatasetError, UsageError, raising
from harness.export.longmemeval import instances_of
from harness.lab.compilation.history import History, compose, largest, smallest
from harness.lab.compilation.pool import Outline, PlacedSession, Pool, read_pool
from harness.lab.compilation.recipe import Recipe, rank
from harness.text import tokens_of

# The window must reach back to a filler's last use; the default is too small, this finds most.
_XZ_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 2, "dict_size": 1 << 26}]
_GZIP_LEVEL = 6
_LINES = (".jsonl", ".jsonl.gz", ".jsonl.xz")


class _Sink(Protocol):
    def write(self, data: bytes, /) -> int:
        """Write all of the data."""


class InstanceWriter:
    """Writes instances of one file, a JSON array or JSON lines, one instance a line either way."""

    def __init__(self, file: _Sink, *, lines: bool) -> None:
        self._file = file
        self._lines = lines
        self._count = 0

    def write(self, record: dict[str, Any], sessions: tuple[PlacedSession, ...]) -> None:
        """Add an instance: the fields of its record, then its haystack."""
        if not self._lines:
            self._file.write(b",\n" if self._count else b"[\n")
        haystack = {
            "haystack_session_ids": [session.session_id for session in sessions],
            "haystack_dates": [session.date_text for session in sessions],
        }
        head = json.dumps(record | haystack).encode("ascii").removesuffix(b"}")
        self._file.write(head + b', "haystack_sessions": [')
        self._file.write(b", ".join(session.content.turns for session in sessions))
        self._file.write(b"]}\n" if self._lines else b"]}")
        self._count += 1

    def close(self) -> None:
        if not self._lines:
            self._file.write(b"\n]\n")


@contextmanager
def writing(path: Path) -> Iterator[InstanceWriter]:
    """A writer for `path`; the file appears only once all of it is written.

    Raises `UsageError` for an unknown suffix and for a path that cannot be written.
    """
    name = path.name.lower()
    if not name.endswith(SUFFIXES):
        raise UsageError(f"--out {path}: expected a name that ends in one of {', '.join(SUFFIXES)}")
    partial = path.with_name(f".{path.name}.partial")
    try:
        with raising(UsageError, f"--out {path}: cannot be written"):
            with partial.open("wb") as raw, _compressed(raw, name) as file:
                writer = InstanceWriter(file, lines=name.endswith(_LINES))
                yield writer
                writer.close()
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _compressed(raw: IO[bytes], name: str) -> Iterator[_Sink]:
    if name.endswith(".gz"):
        # Neither name nor time go into the file: they would make equal content differ.
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as zipped:
            yield zipped
    elif name.endswith(".xz"):
        with lzma.LZMAFile(raw, "wb", filters=_XZ_FILTERS) as packed:
            yield packed
    else:
        yield raw


COMPILED = tuple(known.name for known in BENCHMARKS.values() if known.is_compiled)

FORMAT = 1


@dataclass(slots=True)
class Counts:
    """Counts over all written histories; a token is estimated as four characters."""

    questions: int = 0
    sessions: int = 0
    evidence_sessions: int = 0
    own_fillers: int = 0
    drawn_fillers: int = 0
    rounds: int = 0
    characters: int = 0
    tokens_estimate: int = 0
    questions_by_type: dict[str, int] = field(default_factory=dict)

    def add(self, outline: Outline, history: History) -> None:
        contents = [session.content for session in history.sessions]
        self.questions += 1
        self.sessions += len(contents)
        self.evidence_sessions += history.evidence
        self.own_fillers += history.own_fillers
        self.drawn_fillers += history.drawn_fillers
        self.rounds += sum(content.rounds for content in contents)
        self.characters += sum(content.characters for content in contents)
        self.tokens_estimate = tokens_of(self.characters)
        kind = outline.question.question_type
        self.questions_by_type[kind] = self.questions_by_type.get(kind, 0) + 1


def compile_histories(
    source: QuestionSource, questions: int | None, recipe: Recipe, out: Path, console: Console
) -> dict[str, Any]:
    """Write a history for every selected question to `out` and the manifest beside it; returns the
    manifest.

    `questions` is how many questions to draw from those that the filters leave. Raises `UsageError`
    for impossible options, `DatasetError` for data with too few sessions.
    """
    if source.file is not None and source.file.resolve() == out.resolve():
        raise UsageError(f"--out {out} is the file to read: choose another name")
    if source.dataset in BENCHMARKS and source.dataset not in COMPILED:
        raise UsageError(
            f"compile writes LongMemEval's format, in which {source.dataset} has no place; "
            f"it takes {', '.join(COMPILED)}, or module:Class"
        )
    dataset = open_dataset(source.dataset, source.file)
    pool = read_pool(instances_of(dataset, source.file))
    selected = _select(pool, source, questions)
    _check_size(source, selected, pool, recipe)
    counts, conflicts, depths = Counts(), 0, list[float]()
    with writing(out) as writer:
        for outline in track(selected, "compile", console=console, disable=not console.is_terminal):
            history = compose(outline, pool, recipe)
            writer.write(outline.record, history.sessions)
            counts.add(outline, history)
            conflicts += len(pool.conflicts(outline))
            keys = frozenset(session.content.key for session in outline.evidence)
            depths += history.depths(keys)
    options = asdict(source.filters) | asdict(recipe) | {"questions": questions}
    # `compile` has no such options.
    del options["limit"], options["spread"], options["split"]
    manifest = _manifest(dataset, pool, options, counts) | {
        "conflicts_a_question": round(conflicts / len(selected), 1),
        "depth": _spread(depths),
        "output": {"file": out.name, "sha256": sha256_of(out), "bytes": out.stat().st_size},
    }
    _write_manifest(out, manifest)
    return manifest


def manifest_path(out: Path) -> Path:
    """The manifest of a compiled file: its name without `.json` or `.jsonl`."""
    name = out.name
    for suffix in (".gz", ".xz", ".json", ".jsonl"):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return out.with_name(f"{name}.manifest.json")


def _select(pool: Pool, source: QuestionSource, count: int | None) -> list[Outline]:
    candidates = select([outline.question for outline in pool.outlines], source.filters)
    ids = [question.question_id for question in candidates]
    if count is not None:
        seed = source.filters.seed
        ids = sorted(ids, key=lambda question_id: rank(seed, "question", question_id))[:count]
    chosen = set(ids)
    return [outline for outline in pool.outlines if outline.question.question_id in chosen]


def _check_size(
    source: QuestionSource, selected: Sequence[Outline], pool: Pool, recipe: Recipe
) -> None:
    unit = "tokens" if recipe.sessions is None else "sessions"
    fullest = max(selected, key=lambda outline: smallest(outline, recipe))
    if (least := smallest(fullest, recipe)) > recipe.size:
        raise UsageError(
            f"--{unit} {recipe.size} is too small: question "
            f"{fullest.question.question_id!r} has {least} evidence {unit}"
        )
    most = min(largest(outline, pool, recipe) for outline in selected)
    if most < recipe.size:
        raise DatasetError(
            f"{source.file or source.dataset}: too few distinct sessions for histories of "
            f"{recipe.size}: {len(pool.fillers)} fillers, enough for {most} at most; lower "
            f"--{unit} to {most}, or compile from a file with more questions"
        )


def _manifest(
    dataset: Dataset, pool: Pool, options: dict[str, Any], counts: Counts
) -> dict[str, Any]:
    """The manifest. It has no times or paths, so that equal files have equal manifests."""
    return {
        "format": FORMAT,
        "harness_version": harness_version(),
        "git": git_state(),
        "source": {
            "dataset": dataset.name,
            "file": dataset.file,
            "sha256": dataset.fingerprint.sha256(),
            "questions": len(pool.outlines),
            "sessions": pool.sessions,
            "distinct_fillers": len(pool.fillers),
            "withheld_fillers": pool.withheld,
        },
        "options": options,
        "counts": asdict(counts),
    }


def _spread(depths: Sequence[float]) -> dict[str, float] | None:
    if not depths:
        return None
    mean = sum(depths) / len(depths)
    figures = {"lowest": min(depths), "mean": mean, "highest": max(depths)}
    return {name: round(value, 4) for name, value in figures.items()}


def _write_manifest(out: Path, manifest: dict[str, Any]) -> None:
    path = manifest_path(out)
    with raising(UsageError, f"{path}: cannot be written"):
        path.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
