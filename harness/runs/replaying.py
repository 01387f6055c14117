"""A replay within a run directory: identify the assistant, try it, put the questions to it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.errors import UsageError
from harness.probes.probing import probe_assistant
from harness.replay.blinding import Blinding
from harness.replay.modes.attempts import Attempts
from harness.replay.modes.choice import Approach, Surroundings, make_mode
from harness.replay.stage import ReplayOptions, ReplayStage, identify, unfinished
from harness.runs.budget import Budget, Purse
from harness.runs.manifest import Manifest
from harness.runs.progress import ReplayProgress
from harness.runs.purses import account_of, all_purses
from harness.runs.run_dir import RunDir
from harness.runs.selected import Selected

MakeProgress = Callable[[int | None, int], ReplayProgress]


@dataclass(frozen=True, slots=True)
class Replay:
    """One command's replay; `make_progress` takes total (None: not known yet) and finished,
    `judges` will be paid from the same budget, `beside` were paid from it in other directories.
    """

    run_dir: RunDir
    manifest: Manifest
    selected: Selected
    make_progress: MakeProgress
    judges: Sequence[Purse] = ()
    beside: Sequence[Purse] = ()

    def run(self, endpoint: Endpoint, approach: Approach, options: ReplayOptions) -> int:
        """Replay what is unfinished; returns how many questions failed now."""
        if not options.ask and not approach.searches:
            raise UsageError("retrieval needs --mode native and an assistant with our own routes")
        purse = Purse("assistant", approach.profile.price)
        paid = all_purses(self.manifest, [purse, *self.judges])
        Budget(options.limits, [*paid, *self.beside])
        self._identify(endpoint, approach)
        is_wanted = unfinished(
            self.run_dir,
            ask=options.ask,
            search=approach.searches,
            failed_only=options.retry_errors,
        )
        wanted, total = self._count(is_wanted)
        stage = "replay" if options.ask else "retrieval"
        self.manifest.begin(stage, questions=wanted, concurrency=options.concurrency)
        if wanted == 0:
            return 0
        progress = self.make_progress(total, 0 if wanted is None else (total or 0) - wanted)
        try:
            with progress:
                return asyncio.run(
                    self._replay(endpoint, approach, options, purse, progress, is_wanted)
                )
        except ExceptionGroup as group:
            raise _first(group) from group

    def _identify(self, endpoint: Endpoint, approach: Approach) -> None:
        assistant = asyncio.run(identify(endpoint, approach))
        self.manifest.require_mode(approach.mode, approach.identity)
        self.manifest.require_assistant(assistant)
        self.manifest.set_price(approach.profile.price)

    def _count(self, is_wanted: Callable[[str], bool]) -> tuple[int | None, int | None]:
        """How many questions are wanted, and how many there are; None while that is not known."""
        if not self.selected.is_settled:
            return None, None
        everything = self.selected.all
        return sum(is_wanted(q.question_id) for q in everything), len(everything)

    async def _replay(
        self,
        endpoint: Endpoint,
        approach: Approach,
        options: ReplayOptions,
        purse: Purse,
        progress: ReplayProgress,
        is_wanted: Callable[[str], bool],
    ) -> int:
        async with Transport(endpoint, concurrency=options.concurrency) as transport:

            def account() -> dict[str, Any]:
                return {
                    **account_of([purse]),
                    "requests": transport.traffic.to_json(),
                    "narrowest_pace": transport.narrowest,
                }

            around = Surroundings(
                transport,
                Blinding(self.manifest.salt),
                Attempts(self.run_dir),
                purse,
                options.barrier_seconds,
                progress.round_stored,
            )
            mode = make_mode(approach, around)
            try:
                if options.probe and approach.uses_memory and "probes" not in self.manifest.data:
                    self.manifest.set_probes(await probe_assistant(mode, self.manifest.salt))
                stage = ReplayStage(self.run_dir, self.manifest, mode, options, progress, account)
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._settle(progress))
                    histories = self.selected.histories(is_wanted)
                    replayed = group.create_task(stage.run(histories, transport))
                return replayed.result()
            finally:
                self.manifest.tick(**account())

    async def _settle(self, progress: ReplayProgress) -> None:
        """Finish the selection while histories are replayed; what is wrong with it ends the run."""
        if not self.selected.is_settled:
            await asyncio.to_thread(self.selected.wait)
            progress.total_known(len(self.selected.settle()))


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
