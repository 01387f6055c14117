"""The stages of a run, each alone and in order; the command line is a thin skin over these."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.context.recording_model import recording_model
from harness.context.stage import ContextStage
from harness.datasets.dataset import Dataset
from harness.datasets.registry import open_dataset
from harness.datasets.selection import Filters, select
from harness.errors import (
    AssistantUnreachable,
    JudgeUnavailable,
    RunInterrupted,
    RunMismatch,
    UsageError,
)
from harness.judges.base import Judge
from harness.judges.controls import draw_controls
from harness.judges.stage import judge_all, judge_controls
from harness.probes.probing import probe_assistant
from harness.replay.blinding import Blinding
from harness.replay.modes.attempts import Attempts
from harness.replay.modes.choice import Approach, Surroundings, make_mode
from harness.replay.stage import ReplayOptions, ReplayStage, identify, unfinished
from harness.report.write import write_report
from harness.runs.budget import Budget, Spending
from harness.runs.digest import QuestionDigest
from harness.runs.foreign_hypotheses import take_hypotheses
from harness.runs.manifest import Manifest, load_manifest, open_manifest
from harness.runs.progress import ReplayProgress, make_progress
from harness.runs.run_dir import HYPOTHESES, PROMPTS, QUESTIONS, SECOND_VERDICTS, RunDir

_CONTINUE = "Nothing finished is lost: run the same command again to continue."


@dataclass(frozen=True, slots=True)
class Source:
    """Which questions, from which data; `gold` is a file that corrects its labels."""

    dataset: str
    file: Path | None
    filters: Filters
    gold: Path | None = None


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """How judging goes: a second judge whose disagreement is reported, so many questions drawn with
    the seed as controls of the first, so many verdicts under way at a time.
    """

    second: Judge | None = None
    controls: int = 20
    seed: int = 0
    concurrency: int = 4


class Run:
    """One run directory opened for one selection of questions."""

    def __init__(
        self, source: Source, out: Path, console: Console, *, ingested: Path | None = None
    ) -> None:
        """`ingested` is another run's directory whose histories are used."""
        self._console = console
        self.dir = RunDir(out)
        self.dataset: Dataset = open_dataset(source.dataset, source.file, source.gold)
        self.selected: list[QuestionDigest] = select(self.dataset.outlines, source.filters)
        self.manifest: Manifest = open_manifest(
            self.dir, self.dataset, source.filters, len(self.selected), salt=_salt_of(ingested)
        )
        if not self.dir.has(QUESTIONS):
            self.dir.replace_lines(QUESTIONS, (digest.to_json() for digest in self.selected))

    def replay(self, endpoint: Endpoint, approach: Approach, options: ReplayOptions) -> int:
        """Replay what is unfinished; returns how many questions failed now."""
        with self.dir.owned():
            return self._replay_owned(endpoint, approach, options)

    def _replay_owned(self, endpoint: Endpoint, approach: Approach, options: ReplayOptions) -> int:
        if not options.ask and not approach.searches:
            raise UsageError("retrieval needs --mode native and an assistant with our own routes")
        spent = Spending(**self.manifest.totals("spent"))
        budget = Budget(options.limits, approach.profile.price, spent)
        assistant = asyncio.run(identify(endpoint, approach))
        self.manifest.require_mode(approach.mode, approach.identity)
        self.manifest.require_assistant(assistant)
        self.manifest.set_price(approach.profile.price)
        todo = unfinished(
            {question.question_id for question in self.selected},
            self.dir,
            ask=options.ask,
            search=approach.searches,
            failed_only=options.retry_errors,
        )
        stage = "replay" if options.ask else "retrieval"
        self.manifest.begin(stage, questions=len(todo), concurrency=options.concurrency)
        try:
            return self._replay(todo, endpoint, approach, options, budget) if todo else 0
        except AssistantUnreachable as error:
            raise AssistantUnreachable(f"{error}. {_CONTINUE}") from error
        except KeyboardInterrupt:
            raise RunInterrupted(f"interrupted. {_CONTINUE}") from None
        finally:
            self.manifest.end()

    def record_prompts(self, endpoint: Endpoint, port: int) -> int:
        """Ask every answerable question once while listening on `port` as the assistant's chat
        model; returns how many failed.
        """
        with self.dir.owned(), recording_model(port) as model:
            self.manifest.require_assistant(asyncio.run(identify(endpoint, Approach())))
            done = set(self.dir.by_question(PROMPTS))
            wanted = {q.question_id for q in self.selected if not q.is_abstention}
            todo = wanted - done
            self.manifest.begin("context", questions=len(todo))
            with make_progress(
                self._console, total=len(wanted), finished=len(wanted) - len(todo)
            ) as progress:
                stage = ContextStage(self.dir, self.manifest, endpoint, progress)
                failed = asyncio.run(stage.run(self.dataset.read(todo), model))
            self.manifest.end()
        return failed

    def judge(self, judge: Judge, plan: JudgePlan | None = None) -> None:
        """Judge the hypotheses that have no valid verdict yet, and controls of the judge."""
        plan = plan or JudgePlan()
        self.manifest.begin("judge", judge=judge.id)
        self.manifest.set_judge(judge, plan.second)
        try:
            asyncio.run(self._judge(judge, plan))
        except JudgeUnavailable as error:
            raise JudgeUnavailable(f"{error}. {_CONTINUE}") from error
        except KeyboardInterrupt:
            raise RunInterrupted(f"interrupted. {_CONTINUE}") from None
        finally:
            self.manifest.end()

    async def _judge(self, judge: Judge, plan: JudgePlan) -> None:
        hypotheses = self.dir.by_question(HYPOTHESES)
        questions = self.digests(hypotheses)
        said = {key: line["hypothesis"] for key, line in hypotheses.items()}
        controls = draw_controls(questions, said, sample=plan.controls, seed=plan.seed)
        try:
            await judge_all(self.dir, questions, judge, concurrency=plan.concurrency)
            await judge_controls(self.dir, controls, judge, concurrency=plan.concurrency)
            if plan.second:
                await judge_all(
                    self.dir,
                    questions,
                    plan.second,
                    name=SECOND_VERDICTS,
                    concurrency=plan.concurrency,
                )
        finally:
            await judge.close()
            if plan.second:
                await plan.second.close()

    def take_hypotheses(self, path: Path) -> None:
        """Use another system's hypotheses; its lines for other questions are left out, and counted
        aloud.
        """
        if path.resolve() == (self.dir.path / HYPOTHESES).resolve():
            return
        if self.manifest.asks:
            raise RunMismatch(f"{self.dir.path} has hypotheses of its own: choose another --out")
        wanted = {question.question_id for question in self.selected}
        others = take_hypotheses(path, self.dir, wanted, self.dataset.outlines)
        if others:
            self._console.print(f"{others} hypotheses belong to no selected question: left out")

    def report(self) -> dict[str, Any]:
        """Write the three faces of the report and return it."""
        self.manifest.settle_data(self.dataset.fingerprint.sha256())
        return write_report(self.dir)

    def digests(self, ids: Collection[str]) -> list[QuestionDigest]:
        """The selected questions among these, complete; reads the data where outlines stood."""
        lines = self.dir.by_question(QUESTIONS)
        unread = {name for name in ids if name in lines and not lines[name]["is_read"]}
        for question in self.dataset.read(unread) if unread else ():
            line = QuestionDigest.of(question).to_json()
            self.dir.append(QUESTIONS, line)
            lines[question.question_id] = line
        return [QuestionDigest.from_json(lines[name]) for name in lines if name in ids]

    def _replay(
        self,
        todo: Collection[str],
        endpoint: Endpoint,
        approach: Approach,
        options: ReplayOptions,
        budget: Budget,
    ) -> int:
        total = len(self.selected)
        progress = make_progress(self._console, total=total, finished=total - len(todo))
        replaying = self._replaying(todo, endpoint, approach, options, budget, progress)
        try:
            with progress:
                return asyncio.run(replaying)
        except ExceptionGroup as group:
            raise _first(group) from group

    async def _replaying(
        self,
        todo: Collection[str],
        endpoint: Endpoint,
        approach: Approach,
        options: ReplayOptions,
        budget: Budget,
        progress: ReplayProgress,
    ) -> int:
        async with Transport(endpoint, concurrency=options.concurrency) as transport:

            def account() -> dict[str, Any]:
                return {
                    "spent": budget.spent.to_json(),
                    "requests": transport.traffic.to_json(),
                    "narrowest_pace": transport.narrowest,
                }

            around = Surroundings(
                transport,
                Blinding(self.manifest.salt),
                Attempts(self.dir),
                budget,
                options.barrier_seconds,
                progress.round_stored,
            )
            mode = make_mode(approach, around)
            try:
                if options.probe and approach.uses_memory and "probes" not in self.manifest.data:
                    self.manifest.set_probes(await probe_assistant(mode, self.manifest.salt))
                stage = ReplayStage(self.dir, self.manifest, mode, options, progress, account)
                return await stage.run(self.dataset.histories(todo), transport)
            finally:
                self.manifest.tick(**account())


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


def _salt_of(ingested: Path | None) -> str | None:
    if ingested is None:
        return None
    manifest = load_manifest(RunDir(ingested))
    if manifest is None:
        raise UsageError(f"--ingested {ingested}: there is no run in it")
    return manifest.salt
