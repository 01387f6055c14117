"""A run of the cases: the unfinished cases are put, and a restart is shared by all that need it.

The assistant is already running, or the harness starts one of our own.
"""

import asyncio
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from harness import git_state, harness_version
from harness.assistants.client import identify
from harness.assistants.endpoint import LOG, Endpoint, own_server
from harness.assistants.transport import Transport
from harness.errors import AssistantError, RunMismatch, UsageError, continuable, first_raised
from harness.lab.lifecycle.cases import Case, Cases
from harness.lab.lifecycle.interfaces import CaseLine, ChosenInterface, Course
from harness.records.manifest import Manifest, account_of, all_meters, now
from harness.records.run_dir import MANIFEST, LineFile, RunDir
from harness.replay.chat_mode import Attempts
from harness.replay.ingest import Blinding, new_salt
from harness.spending import Budget, Meter, SpendingLimits


@dataclass(frozen=True, slots=True)
class RunningAssistant:
    """An assistant that is already running; `restart_command` ends when it has restarted it."""

    endpoint: Endpoint
    restart_command: str | None = None

    @property
    def can_restart(self) -> bool:
        return self.restart_command is not None

    def restart(self) -> None:
        """Run the command; `UsageError` where it fails."""
        arguments = shlex.split(self.restart_command or "")
        try:
            ended = subprocess.run(arguments, capture_output=True, text=True, check=False)
        except OSError as error:
            raise UsageError(f"--restart {self.restart_command!r}: {error}") from error
        if ended.returncode:
            said = (ended.stderr or ended.stdout).strip()
            raise UsageError(
                f"--restart {self.restart_command!r}: exit code {ended.returncode}: {said}"
            )


class StartedAssistant:
    """A server of our own on one folder; after a restart it listens on another port."""

    can_restart = True

    def __init__(self, start: Callable[[], str], stop: Callable[[], None], like: Endpoint) -> None:
        self._start = start
        self._stop = stop
        self.endpoint = replace(like, url=start())

    def restart(self) -> None:
        self._stop()
        self.endpoint = replace(self.endpoint, url=self._start())


@contextmanager
def started(
    command: str, data_dir: Path, out: Path, ready_seconds: float, like: Endpoint
) -> Iterator[StartedAssistant]:
    """Run a server inside the context; its log is kept in `out`."""
    with ExitStack() as running:

        def start() -> str:
            return running.enter_context(own_server(command, data_dir, out / LOG, ready_seconds))

        yield StartedAssistant(start, running.close, like)


FORMAT = "lifecycle 1"
CASES = LineFile[CaseLine]("cases.jsonl")
FAILED = LineFile[Any]("failed_cases.jsonl")
_CONTINUE = "Run the same command again to continue"


Assistant = RunningAssistant | StartedAssistant


@dataclass(frozen=True, slots=True)
class CasePace:
    """How many cases run at a time, how many seconds a case waits until everything is remembered,
    and what may be spent.
    """

    concurrency: int = 2
    barrier_seconds: float = 60.0
    limits: SpendingLimits = field(default_factory=SpendingLimits)


class LifecycleRun:
    """A run directory of cases. Raises `RunMismatch` where it holds another run."""

    def __init__(
        self, out: RunDir, cases: Cases, approach: ChosenInterface, console: Console
    ) -> None:
        self.dir = out
        self.cases = cases
        self.approach = approach
        self._console = console
        out.create()
        self.manifest = _manifest(out, cases)
        about = {"profile": approach.profile.identity, "manner": approach.manner}
        self.manifest.require_mode("lifecycle", about)
        self._attempts = Attempts(out)
        self._requests: Counter[str] = Counter()
        self._meter = Meter("assistant", approach.profile.price)

    def lines(self) -> dict[str, CaseLine]:
        return {line["case_id"]: line for line in self.dir.records(CASES, "case_id")}

    def not_put(self, case: Case) -> str | None:
        return self.manifest.data.get("not_put", {}).get(case.case_id)

    def put(self, assistant: Assistant, pace: CasePace) -> int:
        """Put the unfinished cases; returns how many of them failed to be put."""
        with self.dir.owned(), continuable(_CONTINUE), self.manifest.ending():
            return self._put(assistant, pace)

    def _put(self, assistant: Assistant, pace: CasePace) -> int:
        Budget(pace.limits, all_meters(self.manifest, [self._meter]))
        ours = self.approach.uses_own_routes
        self.manifest.require_assistant(asyncio.run(identify(assistant.endpoint, is_ours=ours)))
        reasons = {
            case.case_id: reason
            for case in self.cases.cases
            if (reason := self._reason(case, assistant))
        }
        self.manifest.data["not_put"] = reasons
        done = self.lines()
        wanted = [c for c in self.cases.cases if c.case_id not in {*done, *reasons}]
        self.manifest.begin("lifecycle", questions=len(wanted), concurrency=pace.concurrency)
        self._console.print(f"{len(wanted)} of {len(self.cases.cases)} cases to put")
        # Without users all cases share one memory, so each case runs alone, after it is emptied.
        together = [wanted] if self.approach.names_users else [[case] for case in wanted]
        return sum(self._put_together(cases, assistant, pace) for cases in together)

    def _put_together(self, cases: Sequence[Case], assistant: Assistant, pace: CasePace) -> int:
        courses = [self._course(case) for case in cases]
        waiting, failed = self._play(courses, assistant, pace)
        while waiting:
            self._console.print(f"restarting the server for {len(waiting)} cases")
            assistant.restart()
            waiting, more = self._play(waiting, assistant, pace)
            failed += more
        return failed

    def _reason(self, case: Case, assistant: Assistant) -> str | None:
        if reason := self.approach.cannot(case):
            return f"not possible: {reason}"
        if case.needs_restart and not assistant.can_restart:
            return "not run: nobody said how to restart the server (--server or --restart)"
        return None

    def _course(self, case: Case) -> Course:
        self._attempts.begin(case.case_id)
        return Course(case, Blinding(self.manifest.salt), self._attempts.of(case.case_id))

    def _play(
        self, courses: Sequence[Course], assistant: Assistant, pace: CasePace
    ) -> tuple[list[Course], int]:
        return asyncio.run(self._play_all(courses, assistant.endpoint, pace))

    async def _play_all(
        self, courses: Sequence[Course], endpoint: Endpoint, pace: CasePace
    ) -> tuple[list[Course], int]:
        waiting: list[Course] = []
        failed = 0
        at_a_time = asyncio.Semaphore(pace.concurrency)
        async with Transport(endpoint, concurrency=pace.concurrency) as transport:
            interface = self.approach.interface(transport, self._meter, pace.barrier_seconds)

            async def one(course: Course) -> None:
                nonlocal failed
                async with at_a_time:
                    try:
                        line = await course.play(interface)
                    except AssistantError as error:
                        failed += 1
                        self._fail(course.case, error)
                        return
                if line is None:
                    waiting.append(course)
                else:
                    self.dir.append(CASES, line)

            try:
                with first_raised():
                    async with asyncio.TaskGroup() as group:
                        for course in courses:
                            group.create_task(one(course))
            finally:
                self._requests.update(transport.traffic.to_json())
                account = account_of([self._meter])
                account["requests"] = dict(self._requests)
                self.manifest.tick(**account)
        return waiting, failed

    def _fail(self, case: Case, error: AssistantError) -> None:
        line = {"case_id": case.case_id, "error": type(error).__name__, "message": str(error)}
        self.dir.append(FAILED, line | {"at": now()})


def _manifest(out: RunDir, cases: Cases) -> Manifest:
    data = out.read_json(MANIFEST)
    if data is None:
        return Manifest(out, _new(cases))
    if data.get("format") != FORMAT:
        raise RunMismatch(f"{out.path} holds another kind of run: choose another --out")
    manifest = Manifest(out, data)
    manifest.settle_data(cases.sha256, None)
    return manifest


def _new(cases: Cases) -> Any:
    return {
        "format": FORMAT,
        "harness_version": harness_version(),
        "git": git_state(),
        "created_at": now(),
        "dataset": {"name": "lifecycle", "questions": len(cases.cases), "sha256": cases.sha256},
        "mode": None,
        "approach": None,
        "assistant": None,
        "invocations": [],
        "wall_seconds": 0.0,
        "salt": new_salt(),
    }
