"""The metrics of several processes of one machine in one answer: Prometheus' multiprocess mode.

The Prometheus client keeps its counts in files of a common folder, which it chooses when it is
imported. What other parts count themselves is copied there every second. The counters of a process
stay when it ends, so that sums never fall; its gauges go.
"""

import os
from asyncio import AbstractEventLoop
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_TELL_SECONDS = 1.0
# The processes' largest value of this gauge counts; all other gauges of ours add up.
_LARGEST = "assistant_enrichment_oldest_seconds"


class SharedMetrics:
    """This process's share of the folder, and the sums over all of it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._counts: list[Collector] = []
        self._told: dict[str, Counter | Gauge] = {}
        self._last: dict[tuple[str, ...], float] = {}
        if not _living(folder) - {os.getpid()}:
            for file in folder.glob("*.db"):
                file.unlink(missing_ok=True)

    def read(self, counts: Collector) -> None:
        """Copy from this collector what it counts itself."""
        self._counts.append(counts)

    def keep_telling(self, loop: AbstractEventLoop) -> None:
        """Copy the counts as long as the loop runs: other processes read only this one's files."""
        self._tell()
        loop.call_later(_TELL_SECONDS, self.keep_telling, loop)

    def text(self) -> bytes:
        """The sums, in Prometheus' text format."""
        self._tell()
        for pid in _processes(self._folder) - _living(self._folder):
            mark_process_dead(pid, str(self._folder))  # type: ignore[no-untyped-call]
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(self._folder))  # type: ignore[no-untyped-call]
        return generate_latest(registry)

    def _tell(self) -> None:
        for counts in self._counts:
            for family in counts.collect():
                for sample in family.samples:
                    self._copy(family, sample)

    def _copy(self, family: Metric, sample: Sample) -> None:
        if family.name not in self._told:
            self._told[family.name] = _made(family, sample)
        metric = self._told[family.name]
        one = metric.labels(**sample.labels) if sample.labels else metric
        if isinstance(one, Gauge):
            one.set(sample.value)
            return
        place = (family.name, *map(str, sample.labels.values()))
        one.inc(max(0.0, sample.value - self._last.get(place, 0.0)))
        self._last[place] = sample.value


def _made(family: Metric, sample: Sample) -> Counter | Gauge:
    about = (family.name, family.documentation, list(sample.labels))
    if family.type == "counter":
        return Counter(*about, registry=None)
    if family.name.startswith("process_"):
        return Gauge(*about, registry=None, multiprocess_mode="liveall")
    if family.name == _LARGEST:
        return Gauge(*about, registry=None, multiprocess_mode="livemax")
    return Gauge(*about, registry=None, multiprocess_mode="livesum")


def _processes(folder: Path) -> set[int]:
    return {int(file.stem.rpartition("_")[2]) for file in folder.glob("*.db")}


def _living(folder: Path) -> set[int]:
    return {pid for pid in _processes(folder) if _lives(pid)}


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's process
        return True
    return True
