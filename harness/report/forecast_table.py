"""Forecasts for a person."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.datasets.dataset import Dataset
from harness.datasets.questions import Question
from harness.datasets.registry import open_dataset
from harness.datasets.selection import select
from harness.judges.base import Judge
from harness.replay.modes.choice import Approach
from harness.report.table import Table
from harness.runs.digest import QuestionDigest
from harness.runs.forecast import (
    ANSWER_TOKENS,
    CHAT_SECONDS,
    RECORD_SECONDS,
    Forecast,
    forecast,
)
from harness.runs.foreign_hypotheses import read_hypotheses
from harness.runs.judging_forecast import VERDICT_TOKENS, JudgingForecast, judging_forecasts
from harness.runs.pipeline import JudgePlan, Source
from harness.runs.spending import Price
from harness.tokens import characters_of

_HEADER = ("what", "how much")
_UNKNOWN = "no price known"


@dataclass(frozen=True, slots=True)
class Planned:
    """What a command would do besides telling histories: judge so, so many times over."""

    judge: Judge | None = None
    plan: JudgePlan = field(default_factory=JudgePlan)
    repeats: int = 1

    def forecasts(
        self, questions: Sequence[QuestionDigest], said: dict[str, str]
    ) -> list[JudgingForecast]:
        """What the judges would take for these answers."""
        judges, plan = (self.judge, self.plan.second), self.plan
        return list(
            judging_forecasts(questions, said, judges, controls=plan.controls, seed=plan.seed)
        )


def dry_run_table(
    source: Source, approach: Approach, concurrency: int, planned: Planned | None = None
) -> Table:
    """What a run on this data would take; reads all of it, sends nothing."""
    planned = planned or Planned()
    dataset, ids = _selected(source)
    digests: list[QuestionDigest] = []

    def noted() -> Iterable[list[Question]]:
        for history in dataset.histories(ids):
            digests.extend(map(QuestionDigest.of, history))
            yield history

    made = forecast(noted(), approach)
    said = {digest.question_id: "x" * characters_of(ANSWER_TOKENS) for digest in digests}
    judged = planned.forecasts(digests, said)
    return forecast_table(made, approach.profile.price, concurrency, judged, planned.repeats)


def judging_table(source: Source, hypotheses: Path, planned: Planned) -> Table:
    """What judging these answers would take; asks nobody."""
    dataset, ids = _selected(source)
    lines = read_hypotheses(hypotheses, dataset.outlines)
    said = {name: line["hypothesis"] for name, line in lines.items() if name in ids}
    digests = [QuestionDigest.of(question) for question in dataset.read(said)]
    rows = [("answers", f"{len(said):,}"), *_judging_rows(planned.forecasts(digests, said))]
    note = (
        f"Nobody was asked. Estimates: four characters a token, {VERDICT_TOKENS} tokens a reply; "
        "replies that were kept cost nothing again."
    )
    return Table("Dry run", _HEADER, rows, note)


def forecast_table(
    made: Forecast,
    price: Price | None,
    concurrency: int,
    judged: Sequence[JudgingForecast] = (),
    repeats: int = 1,
) -> Table:
    """Counts, tokens, price and time, with what they assume."""
    dollars = made.usd(price)
    rows = [
        ("questions", f"{made.questions:,}"),
        *((f"  {name}", f"{count:,}") for name, count in sorted(made.by_type.items())),
        ("histories to replay", f"{made.histories:,}" if made.sessions else "none"),
        ("sessions", f"{made.sessions:,}"),
        ("rounds", f"{made.rounds:,}"),
        ("turns recorded without an answer", f"{made.recorded_turns:,}"),
        ("chat calls", f"{made.chat_calls:,}"),
        ("prompt tokens", f"{made.prompt_tokens:,}"),
        ("completion tokens", f"{made.completion_tokens:,}"),
        ("histories cut to fit the prompt", f"{made.questions_cut:,}"),
        ("US dollars", _dollars(dollars)),
        *_judging_rows(judged),
        ("time, but for judging", _time(made.seconds(concurrency))),
    ]
    if repeats > 1:
        parts = [dollars, *(one.usd for one in judged)]
        known = None if None in parts else repeats * sum(filter(None, parts))
        rows.append((f"US dollars of all {repeats} repeats", _dollars(known)))
    note = (
        f"Nothing was sent. Estimates: four characters a token, {ANSWER_TOKENS} tokens an answer, "
        f"{VERDICT_TOKENS} tokens a verdict, {CHAT_SECONDS:g} s a chat call, {RECORD_SECONDS:g} s "
        f"a recorded turn, {concurrency} users at a time; without what the assistant spends behind "
        "its own routes."
    )
    return Table("Dry run", _HEADER, rows, note)


def _selected(source: Source) -> tuple[Dataset, set[str]]:
    dataset = open_dataset(source.dataset, source.file, source.gold)
    return dataset, {q.question_id for q in select(dataset.outlines, source.filters)}


def _judging_rows(judged: Iterable[JudgingForecast]) -> list[tuple[str, str]]:
    return [
        row
        for one in judged
        for row in (
            (f"calls of judge {one.judge_id}, controls included", f"{one.calls:,}"),
            ("  prompt tokens", f"{one.prompt_tokens:,}"),
            ("  completion tokens", f"{one.completion_tokens:,}"),
            ("  US dollars", _dollars(one.usd)),
        )
    ] or [("calls of a judge's model", "none")]


def _dollars(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:,.2f}"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
