"""The stages of a run, each alone and in order; the command line is a thin skin over these."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.assistants.endpoint import Endpoint
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
from harness.replay.modes.choice import Approach
from harness.replay.stage import ReplayOptions, identify
from harness.report.write import write_report
from harness.runs.budget import Budget, Limits, Purse
from harness.runs.digest import QuestionDigest
from harness.runs.foreign_hypotheses import take_hypotheses
from harness.runs.manifest import Manifest, load_manifest, open_manifest
from harness.runs.progress import ReplayProgress, make_progress
from harness.runs.purses import account_of, all_purses, purses_beside
from harness.runs.replaying import Replay
from harness.runs.run_dir import HYPOTHESES, PROMPTS, QUESTIONS, SECOND_VERDICTS, RunDir
from harness.runs.selected import Selected

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
    the seed as controls of the first, so many verdicts under way at a time, so much to be spent.
    """

    second: Judge | None = None
    controls: int = 20
    seed: int = 0
    concurrency: int = 4
    limits: Limits = field(default_factory=Limits)


class Run:
    """One run directory opened for one selection of questions."""

    def __init__(
        self,
        source: Source,
        out: Path,
        console: Console,
        *,
        ingested: Path | None = None,
        beside: Sequence[Path] = (),
    ) -> None:
        """`ingested` is another run's directory whose histories are used; what was spent in those
        `beside` counts.
        """
        self._console = console
        self._beside = beside
        self.dir = RunDir(out)
        self.dataset: Dataset = open_dataset(source.dataset, source.file, source.gold)
        if self.dataset.is_listed:
            select(self.dataset.outlines, source.filters)  # refuses before anything is written
        self.manifest: Manifest = open_manifest(
            self.dir, self.dataset, source.filters, salt=_salt_of(ingested)
        )
        self._selected = Selected(self.dataset, source.filters, self.manifest, self.dir)

    @property
    def selected(self) -> list[QuestionDigest]:
        """The questions of the run, however long it takes to find them."""
        return self._selected.all

    def replay(
        self,
        endpoint: Endpoint,
        approach: Approach,
        options: ReplayOptions,
        judges: Sequence[Judge | None] = (),
    ) -> int:
        """Replay what is unfinished; returns how many questions failed now. The `judges` that come
        later are paid from the same budget.
        """
        with self.dir.owned():
            try:
                return self._replay(_purses(judges)).run(endpoint, approach, options)
            except AssistantUnreachable as error:
                raise AssistantUnreachable(f"{error}. {_CONTINUE}") from error
            except KeyboardInterrupt:
                raise RunInterrupted(f"interrupted. {_CONTINUE}") from None
            finally:
                self.manifest.end()

    def _replay(self, judges: Sequence[Purse]) -> Replay:
        def progress(total: int | None, finished: int) -> ReplayProgress:
            return make_progress(self._console, total=total, finished=finished)

        beside = list(purses_beside(self._beside))
        return Replay(self.dir, self.manifest, self._selected, progress, judges, beside)

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
        purses = _purses([judge, plan.second])
        Budget(plan.limits, [*all_purses(self.manifest, purses), *purses_beside(self._beside)])
        self.manifest.begin("judge", judge=judge.id)
        self.manifest.set_judge(judge, plan.second)
        try:
            asyncio.run(self._judge(judge, plan, purses))
        except JudgeUnavailable as error:
            raise JudgeUnavailable(f"{error}. {_CONTINUE}") from error
        except KeyboardInterrupt:
            raise RunInterrupted(f"interrupted. {_CONTINUE}") from None
        finally:
            self.manifest.end()

    async def _judge(self, judge: Judge, plan: JudgePlan, purses: Sequence[Purse]) -> None:
        hypotheses = self.dir.by_question(HYPOTHESES)
        questions = self.digests(hypotheses)
        said = {key: line["hypothesis"] for key, line in hypotheses.items()}
        controls = draw_controls(questions, said, sample=plan.controls, seed=plan.seed)

        def judged() -> None:
            if purses:  # without a model nothing is paid, and much is judged in a moment
                self.manifest.tick(**account_of(purses))

        sides = plan.concurrency
        judging = partial(judge_all, self.dir, questions, concurrency=sides, judged=judged)
        try:
            await judging(judge)
            await judge_controls(self.dir, controls, judge, concurrency=sides, judged=judged)
            if plan.second:
                await judging(plan.second, name=SECOND_VERDICTS)
        finally:
            judged()
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


def _purses(judges: Sequence[Judge | None]) -> list[Purse]:
    return [judge.purse for judge in judges if judge is not None and judge.purse is not None]


def _salt_of(ingested: Path | None) -> str | None:
    if ingested is None:
        return None
    manifest = load_manifest(RunDir(ingested))
    if manifest is None:
        raise UsageError(f"--ingested {ingested}: there is no run in it")
    return manifest.salt
