"""A replay: identify the assistant, try it, put the unfinished questions to it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from harness.assistants.client import identify
from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.datasets.questions import Question
from harness.errors import AssistantUnreachable, RunInterrupted, UsageError
from harness.judges.base import Judge
from harness.pipeline.histories import HistoryReplay, ReplayOptions
from harness.pipeline.judging import meters_of
from harness.pipeline.probing import probe_assistant
from harness.pipeline.progress import ReplayProgress
from harness.pipeline.run import CONTINUE, Run
from harness.records.run_dir import FAILURES, HYPOTHESES, RETRIEVAL
from harness.replay.chat_mode import Attempts
from harness.replay.ingest import Blinding
from harness.replay.modes import Approach, Surroundings, make_mode
from harness.spending import Meter


def replay_run(
    run: Run,
    endpoint: Endpoint,
    approach: Approach,
    options: ReplayOptions,
    judges: Sequence[Judge | None] = (),
) -> int:
    """Replay what is unfinished; returns how many questions failed now. The `judges` that come
    later are paid from the same budget.
    """
    with run.dir.owned():
        try:
            return _replay(run, endpoint, approach, options, meters_of(judges))
        except AssistantUnreachable as error:
            raise AssistantUnreachable(f"{error}. {CONTINUE}") from error
        except KeyboardInterrupt:
            raise RunInterrupted(f"interrupted. {CONTINUE}") from None
        finally:
            run.manifest.end()


def _replay(
    run: Run,
    endpoint: Endpoint,
    approach: Approach,
    options: ReplayOptions,
    judges: Sequence[Meter],
) -> int:
    if not options.ask and not approach.searches:
        raise UsageError("retrieval needs --mode native and an assistant with our own routes")
    meter = Meter("assistant", approach.profile.price)
    run.limit_spending(options.limits, [meter, *judges])
    _identify(run, endpoint, approach)
    is_wanted = _unfinished(run, approach, options)
    wanted, total = _count(run, is_wanted)
    stage = "replay" if options.ask else "retrieval"
    run.manifest.begin(stage, questions=wanted, concurrency=options.concurrency)
    if wanted == 0:
        return 0
    try:
        with run.progress(total, 0 if wanted is None else (total or 0) - wanted) as progress:
            histories = run.histories(is_wanted)
            return asyncio.run(
                _replay_histories(run, endpoint, approach, options, meter, histories, progress)
            )
    except ExceptionGroup as group:
        raise _first(group) from group


def _identify(run: Run, endpoint: Endpoint, approach: Approach) -> None:
    ours, remembers = approach.profile.is_ours, approach.uses_memory
    assistant = asyncio.run(identify(endpoint, is_ours=ours, needs_memory=remembers))
    run.manifest.require_mode(approach.mode, approach.identity)
    run.manifest.require_assistant(assistant)
    run.manifest.set_price(approach.profile.price)


def _unfinished(run: Run, approach: Approach, options: ReplayOptions) -> Callable[[str], bool]:
    """Tells of a question id whether its last line is not written yet, and where only failed ones
    are to be tried again, whether it has failed before.
    """
    searched = [set(run.dir.by_question(RETRIEVAL))] if approach.searches else []
    answered = [set(run.dir.by_question(HYPOTHESES))] if options.ask else []
    done = set.intersection(*searched, *answered)
    failed = set(run.dir.by_question(FAILURES)) if options.retry_errors else None
    return lambda name: name not in done and (failed is None or name in failed)


def _count(run: Run, is_wanted: Callable[[str], bool]) -> tuple[int | None, int | None]:
    """How many questions are wanted, and how many there are; None while that is not known."""
    if not run.is_settled:
        return None, None
    return sum(is_wanted(q.question_id) for q in run.selected), len(run.selected)


async def _replay_histories(
    run: Run,
    endpoint: Endpoint,
    approach: Approach,
    options: ReplayOptions,
    meter: Meter,
    histories: Iterator[list[Question]],
    progress: ReplayProgress,
) -> int:
    async with Transport(endpoint, concurrency=options.concurrency) as transport:
        blinding, attempts = Blinding(run.manifest.salt), Attempts(run.dir)
        on_round, patience = progress.round_stored, options.barrier_seconds
        around = Surroundings(transport, blinding, attempts, meter, patience, on_round)
        mode = make_mode(approach, around)
        replay = HistoryReplay(run, mode, options, transport, meter, progress)
        try:
            if options.probe and approach.uses_memory and "probes" not in run.manifest.data:
                run.manifest.set_probes(await probe_assistant(mode, run.manifest.salt))
            async with asyncio.TaskGroup() as group:
                group.create_task(_settle(run, progress))
                replayed = group.create_task(replay.all(histories))
            return replayed.result()
        finally:
            replay.tick()


async def _settle(run: Run, progress: ReplayProgress) -> None:
    """Finish the selection while histories are replayed; what is wrong with it ends the run."""
    if not run.is_settled:
        # Waits for the outlines, or for what is wrong with them.
        await asyncio.to_thread(lambda: run.dataset.outlines)
        progress.total_known(len(run.settle_selection()))


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
