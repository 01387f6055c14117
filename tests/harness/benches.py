"""The harness on a bench: its stages in this process, with quick retries, in one directory."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from scripted_assistant import ScriptedAssistant

from harness.assistants.endpoint import Endpoint, RetryPolicy
from harness.datasets.selection import Filters, QuestionSource
from harness.judges.lexical import LexicalJudge
from harness.pipeline.judging import judge_run
from harness.pipeline.replay import ReplayOptions, replay_run
from harness.pipeline.run import Run
from harness.replay.modes import Approach

QUICK = RetryPolicy(attempts=3, reconnect_seconds=5.0, first_wait=0.01, longest_wait=0.05)


@dataclass
class Bench:
    """Runs the stages in this process with quick retries, all in one directory."""

    assistant: ScriptedAssistant
    data_file: Path
    out: Path
    timeout: float = 5.0
    retry: RetryPolicy = QUICK
    approach: Approach = field(default_factory=Approach)
    url: str = ""
    dataset: str = "longmemeval"
    filters: dict[str, Any] = field(default_factory=dict)
    plan: Path | None = None

    def open(self, **filters: Any) -> Run:
        chosen = Filters(**(self.filters | filters))
        source = QuestionSource(self.dataset, self.data_file, chosen)
        return Run(source, self.out, Console(stderr=True), plan=self.plan)

    def replay(self, *, barrier_seconds: float = 0.2, **options: Any) -> int:
        endpoint = Endpoint(self.url or self.assistant.url, timeout=self.timeout, retry=self.retry)
        replaying = ReplayOptions(barrier_seconds=barrier_seconds, **options)
        return replay_run(self.open(), endpoint, self.approach, replaying)

    def report(self) -> dict[str, Any]:
        run = self.open()
        judge_run(run, LexicalJudge())
        return run.report()


@dataclass
class Finished:
    code: int
    out: str
    err: str
