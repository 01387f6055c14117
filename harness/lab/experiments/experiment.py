"""An experiment: one memory, filled once, and a server for each cell over it.

Everything lies in one folder: `memory/` is the run that filled the memory, `data/` the memory
itself, `cells/NAME/` the run directory of a cell, with `prompts/` in it if prompts were recorded.
Finished parts are kept, so that the same command goes on after an interruption.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from harness.assistants.endpoint import LOG, Endpoint, free_port, own_server
from harness.assistants.profile import load_profile
from harness.datasets.registry import open_source
from harness.datasets.selection import QuestionSource, select
from harness.errors import RunMismatch, UsageError
from harness.judges import Judge
from harness.lab.experiments.cells import DESIGNS, Cell, Grid
from harness.pipeline.judging import judge_run
from harness.pipeline.prompts import record_prompts
from harness.pipeline.replay import ReplayOptions, replay_run
from harness.pipeline.run import Run
from harness.records.run_dir import INGEST, PROMPTS, RunDir
from harness.replay.context_modes import CHOICES, ContextWindow
from harness.replay.modes import NATIVE, Approach
from harness.report.build import write_report

CELL = "cell.json"
# The cache of vectors serves later runs, so it keeps even what a run forgets. Durability is low
# because a power cut costs no more than a replay.
_LABORATORY = {"ASSISTANT_DURABILITY": "os", "ASSISTANT_FORGET_CACHES": "false"}


@dataclass(frozen=True, slots=True)
class ReadingModel:
    model: str
    base_url: str
    api_key: str

    @classmethod
    def parse(cls, text: str, api_key: str | None) -> "ReadingModel":
        """`MODEL@URL`. Raises `UsageError`."""
        model, at, url = text.partition("@")
        if not (model and at and url):
            raise UsageError(f"{text!r}: expected MODEL@URL, such as gpt-4o@https://…/v1")
        return cls(model, url, api_key or "none")

    def settings(self, role: str) -> dict[str, str]:
        named = self.model if "/" in self.model else f"openai/{self.model}"
        values = {"name": named, "base_url": self.base_url, "api_key": self.api_key}
        return {f"{role}.{name}": value for name, value in values.items()}


@dataclass(frozen=True)
class Laboratory:
    out: Path
    source: QuestionSource
    console: Console
    judge: Judge
    server: str = "assistant serve"
    reader: ReadingModel | None = None
    ready_seconds: float = 180.0
    concurrency: int = 2
    context_tokens: int = ContextWindow().tokens
    shared: Mapping[str, str] = field(default_factory=dict)
    """Settings of every server, by their dotted names."""
    filled: Path | None = None
    """The folder of an earlier experiment, whose memory is used."""

    @property
    def memory(self) -> Path:
        return (self.filled or self.out) / "memory"

    @property
    def data(self) -> Path:
        return (self.filled or self.out) / "data"

    def folder(self, cell: Cell) -> Path:
        return self.out / "cells" / cell.name

    @contextmanager
    def serving(self, cell: Cell, log: Path, **settings: str) -> Iterator[Endpoint]:
        every = replace(cell, settings={**self.shared, **cell.settings, **settings}).environment
        with own_server(
            self.server, self.data, log, self.ready_seconds, _LABORATORY | every
        ) as url:
            yield Endpoint(url)


def run_experiment(laboratory: Laboratory, grid: Grid) -> int:
    """Run the unfinished cells; returns how many questions failed now."""
    if grid.types and not laboratory.source.filters.types:
        filters = replace(laboratory.source.filters, types=grid.types)
        laboratory = replace(laboratory, source=replace(laboratory.source, filters=filters))
    open_source(laboratory.source)  # Raises for unreadable data before any server is started.
    RunDir(laboratory.out).create()
    if not any(cell.mode == NATIVE for cell in grid.cells):
        return sum(_control(laboratory, cell) for cell in grid.cells if cell.mode in CHOICES)
    _try_designs(laboratory, grid)
    failed = _fill(laboratory)
    for number, cell in enumerate(grid.cells, start=1):
        laboratory.console.print(
            f"{grid.name}, {number} of {len(grid.cells)}: {cell.label}", highlight=False
        )
        failed += _measure(laboratory, cell)
    return failed


def _try_designs(laboratory: Laboratory, grid: Grid) -> None:
    """Start each design once on an empty memory, so that a package it lacks is noticed before the
    memory is filled.
    """
    left = [cell for cell in grid.cells if cell.mode == NATIVE and not _is_done(laboratory, cell)]
    designs = {cell.settings.get("design"): cell for cell in left}
    for number, (design, cell) in enumerate(designs.items(), start=1):
        laboratory.console.print(
            f"trying design {number} of {len(designs)}: {design or DESIGNS[0]}", highlight=False
        )
        with tempfile.TemporaryDirectory(prefix="aide-memoire-experiment-") as folder:
            empty = replace(laboratory, out=Path(folder), filled=None)
            with empty.serving(cell, empty.out / LOG):
                pass


def _fill(laboratory: Laboratory) -> int:
    if laboratory.filled is not None:
        _require_histories(laboratory)
        return 0
    run = Run(laboratory.source, laboratory.memory, laboratory.console)
    laboratory.data.mkdir(exist_ok=True)
    options = ReplayOptions(ask=False, concurrency=laboratory.concurrency)
    with laboratory.serving(Cell("", ""), laboratory.out / LOG) as endpoint:
        return replay_run(run, endpoint, Approach(), options)


def _require_histories(laboratory: Laboratory) -> None:
    """Raise `UsageError` if the memory of an earlier experiment lacks some of the histories."""
    held = RunDir(laboratory.memory).by_history(INGEST)
    wanted = select(open_source(laboratory.source).outlines, laboratory.source.filters)
    missing = {question.history_id for question in wanted} - set(held)
    if missing:
        raise UsageError(
            f"--memory {laboratory.filled}: it lacks {len(missing)} of the histories; continue "
            "that experiment first, or ask fewer questions"
        )


def _measure(laboratory: Laboratory, cell: Cell) -> int:
    folder = laboratory.folder(cell)
    if _is_done(laboratory, cell):
        return 0
    started = time.perf_counter()
    run = Run(laboratory.source, folder, laboratory.console, ingested=laboratory.memory)
    ingested = laboratory.memory / INGEST
    if ingested.exists() and not (folder / INGEST).exists():
        shutil.copy(ingested, folder / INGEST)
    reader = laboratory.reader.settings("chat_model") if laboratory.reader else {}
    options = ReplayOptions(ask=cell.asks, concurrency=laboratory.concurrency)
    with laboratory.serving(cell, folder / LOG, **reader) as endpoint:
        failed = replay_run(run, endpoint, Approach(), options)
    if cell.asks:
        judge_run(run, laboratory.judge)
    run.report()
    if cell.prompts:
        failed += _record(laboratory, cell)
    return finish_cell(laboratory, cell, failed, time.perf_counter() - started)


def _record(laboratory: Laboratory, cell: Cell) -> int:
    folder = laboratory.folder(cell) / "prompts"
    run = Run(laboratory.source, folder, laboratory.console, ingested=laboratory.memory)
    port = _recording_port(folder)
    listening = ReadingModel("recording", f"http://127.0.0.1:{port}/v1", "none").settings(
        "chat_model"
    )
    with laboratory.serving(cell, folder / LOG, **listening) as endpoint:
        ours = load_profile("aide-memoire")
        failed = record_prompts(run, endpoint, port, ours, laboratory.memory)
    run.report()
    # With the prompts, the cell's report can tell at which step answers went wrong.
    shutil.copy(folder / PROMPTS, laboratory.folder(cell) / PROMPTS)
    write_report(RunDir(laboratory.folder(cell)))
    return failed


def _recording_port(folder: Path) -> int:
    """The port of the recording. A continued run keeps its port, since the address is a setting
    of the assistant's that the run was begun with."""
    file = folder / "port"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{free_port()}\n", encoding="utf-8")
    return int(file.read_text(encoding="utf-8"))


def _control(laboratory: Laboratory, cell: Cell) -> int:
    """Run a control cell: a model reads the histories without a memory."""
    if laboratory.reader is None:
        raise UsageError("a control needs a language model: --reader MODEL@URL")
    if _is_done(laboratory, cell):
        return 0
    started = time.perf_counter()
    approach = Approach(cell.mode, load_profile("plain"), window_of(laboratory, cell))
    reader = laboratory.reader
    endpoint = Endpoint(reader.base_url.removesuffix("/v1"), reader.api_key, reader.model)
    run = Run(laboratory.source, laboratory.folder(cell), laboratory.console)
    options = ReplayOptions(concurrency=laboratory.concurrency)
    failed = replay_run(run, endpoint, approach, options)
    judge_run(run, laboratory.judge)
    run.report()
    return finish_cell(laboratory, cell, failed, time.perf_counter() - started)


def window_of(laboratory: Laboratory, cell: Cell) -> ContextWindow:
    """The window that a control's model reads: its size in tokens, notes and layout."""
    layout: Literal["text", "json"] = "json" if cell.layout == "json" else "text"
    return ContextWindow(laboratory.context_tokens, notes=cell.notes, layout=layout)


def _is_done(laboratory: Laboratory, cell: Cell) -> bool:
    file = laboratory.folder(cell) / CELL
    if not file.exists():
        return False
    known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if known["set_up"] != _set_up(laboratory, cell):
        raise RunMismatch(
            f"{file.parent} holds the cell {cell.label!r} of another set-up: choose another --out"
        )
    return True


def finish_cell(laboratory: Laboratory, cell: Cell, failed: int, seconds: float) -> int:
    """Write down that the cell is finished, unless it had failures: then it will be tried again."""
    if not failed:
        done = {
            "set_up": _set_up(laboratory, cell),
            "seconds": round(seconds, 1),
            "cell": asdict(cell),
        }
        RunDir(laboratory.folder(cell)).replace(CELL, json.dumps(done, indent=2) + "\n")
    return failed


def finished_cell(laboratory: Laboratory, name: str) -> Cell | None:
    """A finished cell of an earlier command, if it has the set-up of this command; else None."""
    file = laboratory.out / "cells" / name / CELL
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if "cell" not in known:
        return None
    cell = Cell(**known["cell"])
    return cell if known["set_up"] == _set_up(laboratory, cell) else None


def _set_up(laboratory: Laboratory, cell: Cell) -> dict[str, Any]:
    reader = laboratory.reader
    room = laboratory.context_tokens
    # Cells of the usual room were made before others could be, and do not name it.
    is_other = cell.mode in CHOICES and room != ContextWindow().tokens
    return {
        **({"context_tokens": room} if is_other else {}),
        "settings": {**laboratory.shared, **cell.settings},
        "mode": cell.mode,
        "notes": cell.notes,
        "asks": cell.asks,
        "prompts": cell.prompts,
        "reader": f"{reader.model}@{reader.base_url}" if reader else None,
        "judge": laboratory.judge.id,
    }


def seconds_of(laboratory: Laboratory, cell: Cell) -> float | None:
    file = laboratory.folder(cell) / CELL
    if not file.exists():
        return None
    return float(json.loads(file.read_text(encoding="utf-8"))["seconds"])


def megabytes_of(folder: Path, *, besides: Sequence[str] = ()) -> float:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in besides)
    return sum(path.stat().st_blocks * 512 for path in files) / 1e6
