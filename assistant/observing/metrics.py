"""What Prometheus reads: a registry for each application.

Where `PROMETHEUS_MULTIPROC_DIR` names a folder, any process that shares it answers for all of them:
the client then keeps its values in files there, one set a process (`observing/shared_metrics.py`).

Labels are names from the code (routes, stages, error codes, roles), never a user's id or words, so
that their number is bounded. docs/operations.md lists every metric.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from assistant.chat.recorder import Recorder
from assistant.enrichment.worker import EnrichmentWorker
from assistant.idle_moments import Activity
from assistant.models.chat_model import UsageCounts
from assistant.observing.shared_metrics import FOLDER, SharedMetrics
from memory_store import MemoryStore

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """What happened since the start: of this process, or of all that share a folder with it."""

    def __init__(self) -> None:
        # Else the client adds the time at which each label was first seen: three lines for one.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        folder = os.environ.get(FOLDER)
        self._shared = SharedMetrics(Path(folder)) if folder else None
        self.registry = CollectorRegistry()
        self._read(ProcessCollector(registry=None))
        self._stages = Histogram(
            "assistant_stage_seconds",
            "Time of one stage of answering.",
            ["stage"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._requests = Histogram(
            "assistant_request_seconds",
            "Time from a request to the end of its answer.",
            ["method", "route", "status"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._errors = Counter(
            "assistant_errors", "Requests answered with an error.", ["code"], registry=self.registry
        )
        self.running = 0
        """Requests being answered."""
        self._begun = 0
        self._read(_Running(self))

    def stage(self, name: str, seconds: float) -> None:
        """Count the time that a stage of answering took."""
        self._stages.labels(name).observe(seconds)

    def request_begun(self) -> None:
        """Count a request that has arrived."""
        self._begun += 1
        self.running += 1

    def activity(self) -> Activity:
        """How busy the server is."""
        return Activity(self._begun, self.running)

    def refused(self, error_code: str) -> None:
        """Count a refusal that is not counted otherwise, because no request was read yet."""
        self._errors.labels(error_code).inc()

    def request_ended(
        self, method: str, route: str, status: int, seconds: float, error_code: str | None
    ) -> None:
        """Count a request that was answered or given up."""
        self.running -= 1
        self._requests.labels(method, route, str(status)).observe(seconds)
        if error_code:
            self._errors.labels(error_code).inc()

    def watch(
        self,
        *,
        store: MemoryStore,
        usage: UsageCounts,
        recorder: Recorder,
        enrichment: EnrichmentWorker | None,
    ) -> None:
        """Read from these parts what they count themselves, whenever somebody asks."""
        self._read(_Parts(store, usage, recorder, enrichment))
        if self._shared:
            self._shared.keep_telling(asyncio.get_running_loop())

    def _read(self, counts: Collector) -> None:
        """Read from a collector what it counts itself, whenever somebody asks."""
        if self._shared:
            self._shared.read(counts)
        else:
            self.registry.register(counts)

    def text(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return self._shared.text() if self._shared else generate_latest(self.registry)


class _Running(Collector):
    """Collects how many requests are being answered."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """The count as it is now."""
        yield GaugeMetricFamily(
            "assistant_requests_running", "Requests being answered.", self._metrics.running
        )


class _Parts(Collector):
    """Collects what the parts of the assistant count."""

    def __init__(
        self,
        store: MemoryStore,
        usage: UsageCounts,
        recorder: Recorder,
        enrichment: EnrichmentWorker | None,
    ) -> None:
        self._store = store
        self._usage = usage
        self._recorder = recorder
        self._enrichment = enrichment

    def collect(self) -> Iterator[Metric]:
        """The counts as they are now."""
        yield from self._memory()
        yield self._caches()
        yield from self._models()

    def _memory(self) -> Iterator[Metric]:
        waiting = self._enrichment.waiting if self._enrichment else ()
        yield CounterMetricFamily(
            "assistant_rounds_stored", "Rounds written.", self._recorder.rounds_stored
        )
        yield GaugeMetricFamily(
            "assistant_enrichment_sessions_waiting",
            "Sessions with rounds that wait for the extract model.",
            len(waiting),
        )
        yield GaugeMetricFamily(
            "assistant_enrichment_oldest_seconds",
            "How long this process has known of the one that waits longest.",
            max(waiting, default=0.0),
        )

    def _caches(self) -> Metric:
        stats = self._store.embedder.stats
        replies = self._usage.totals()
        outcomes = {
            "vectors_memory": (
                stats.texts - stats.from_disk - stats.encoded,
                stats.from_disk + stats.encoded,
            ),
            "vectors_disk": (stats.from_disk, stats.encoded),
            "replies": (replies.from_cache, replies.calls),
        }
        family = CounterMetricFamily(
            "assistant_cache_lookups", "Lookups in a cache.", labels=["cache", "outcome"]
        )
        for cache, counts in outcomes.items():
            for outcome, count in zip(("hit", "miss"), counts, strict=True):
                family.add_metric([cache, outcome], max(0, count))
        return family

    def _models(self) -> Iterator[Metric]:
        calls = CounterMetricFamily(
            "assistant_model_calls", "Calls of language models.", labels=["role", "outcome"]
        )
        tokens = CounterMetricFamily(
            "assistant_model_tokens", "Tokens they read and wrote.", labels=["role", "kind"]
        )
        cost = CounterMetricFamily(
            "assistant_model_cost_dollars",
            "What the calls cost whose price is known.",
            labels=["role"],
        )
        for role, usage in self._usage.by_role.items():
            calls.add_metric([role, "ok"], usage.calls - usage.failed)
            calls.add_metric([role, "failed"], usage.failed)
            tokens.add_metric([role, "prompt"], usage.prompt_tokens)
            tokens.add_metric([role, "completion"], usage.completion_tokens)
            cost.add_metric([role], usage.cost)
        yield from (calls, tokens, cost)
