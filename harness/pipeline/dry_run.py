"""What a run would take, counted from the data alone: nothing is sent, nobody is asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.datasets.dataset import Dataset
from harness.datasets.questions import Question, digest_of, rounds_of
from harness.datasets.registry import open_source
from harness.datasets.selection import QuestionSource, select
from harness.judges import Judge
from harness.metrics.judge_table import draw_controls
from harness.pipeline.judging import JudgePlan, read_hypotheses
from harness.records.digest import QuestionDigest
from harness.replay.context_modes import CHOICES, context_of
from harness.replay.modes import Approach
from harness.replay.store_mode import TOP_K
from harness.report.table import Table
from harness.spending import (
    ANSWER_TOKENS,
    CHAT_SECONDS,
    RECORD_SECONDS,
    VERDICT_TOKENS,
    Forecast,
    JudgingForecast,
    Price,
)
from harness.text import characters_of, tokens_at_least_one, tokens_of

_HEADER = ("what", "how much")
_UNKNOWN = "no price known"


def judging_table(answers: int, judged: Sequence[JudgingForecast]) -> Table:
    rows = [("answers", f"{answers:,}"), *_judging_rows(judged)]
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


@dataclass(frozen=True, slots=True)
class Planned:
    """What a command would do besides telling histories: judge by `plan`, `repeats` times."""

    judge: Judge | None = None
    plan: JudgePlan = field(default_factory=JudgePlan)
    repeats: int = 1

    def forecasts(
        self, questions: Sequence[QuestionDigest], said: dict[str, str]
    ) -> list[JudgingForecast]:
        judges, plan = (self.judge, self.plan.second), self.plan
        return list(
            judging_forecasts(questions, said, judges, controls=plan.controls, seed=plan.seed)
        )


def dry_run_table(
    source: QuestionSource, approach: Approach, concurrency: int, planned: Planned | None = None
) -> Table:
    """What a run on this data would take; reads all of it, sends nothing."""
    planned = planned or Planned()
    dataset, ids = _selected(source)
    digests: list[QuestionDigest] = []

    def noted() -> Iterable[list[Question]]:
        for history in dataset.histories(ids):
            digests.extend(map(digest_of, history))
            yield history

    made = forecast(noted(), approach)
    said = {digest.question_id: "x" * characters_of(ANSWER_TOKENS) for digest in digests}
    judged = planned.forecasts(digests, said)
    return forecast_table(made, approach.profile.price, concurrency, judged, planned.repeats)


def judging_dry_run_table(source: QuestionSource, hypotheses: Path, planned: Planned) -> Table:
    dataset, ids = _selected(source)
    lines = read_hypotheses(hypotheses, dataset.outlines)
    said = {name: line["hypothesis"] for name, line in lines.items() if name in ids}
    # Complete outlines are used as they are: questions without histories cannot be read.
    digests = [q for q in dataset.outlines if q.question_id in said and q.is_read]
    unread = said.keys() - {q.question_id for q in digests}
    digests += [digest_of(question) for question in dataset.read(unread)] if unread else []
    return judging_table(len(said), planned.forecasts(digests, said))


def forecast(histories: Iterable[list[Question]], approach: Approach) -> Forecast:
    """Count what these histories and their questions would cost with this approach."""
    made = Forecast()
    shared = approach.searches or approach.profile.leaves_no_trace or not approach.uses_memory
    for questions in histories:
        for replayed in [questions] if shared else [[question] for question in questions]:
            made.histories += 1
            if approach.uses_memory:
                _count_history(replayed[0], approach, made)
        for question in questions:
            _count_question(question, approach, made)
    return made


def _count_history(question: Question, approach: Approach, made: Forecast) -> None:
    for session in question.sessions:
        made.sessions += 1
        made.rounds += len(rounds_of(session.turns))
        made.turns += len(session.turns)
        if approach.mode not in ("teacher", "live"):
            made.recorded_turns += len(session.turns)
            continue
        said = 0
        for turn in session.turns:
            said += len(turn.content)
            if turn.role == "user" and turn.content.strip():
                made.chat_calls += 1
                made.prompt_tokens += tokens_at_least_one(said)


def _count_question(question: Question, approach: Approach, made: Forecast) -> None:
    made.by_type[question.question_type] += 1
    if approach.guesses:
        return
    made.chat_calls += 1
    made.prompt_tokens += tokens_at_least_one(len(question.question))
    if approach.reader is not None:
        made.prompt_tokens += min(approach.window.tokens, _found_tokens(question))
    if choose := CHOICES.get(approach.mode):
        account = context_of(question, choose, approach.window).account
        made.prompt_tokens += account["tokens_estimate"]
        made.questions_cut += bool(account["sessions_cut"] or account["sessions_shortened"])


def _found_tokens(question: Question) -> int:
    """The tokens that a store finds for a question, if the rounds found are of mean length."""
    rounds = sum(len(rounds_of(session.turns)) for session in question.sessions)
    said = sum(len(turn.content) for session in question.sessions for turn in session.turns)
    return tokens_of(said * min(TOP_K, rounds) // max(1, rounds))


def judging_forecasts(
    questions: Sequence[QuestionDigest],
    said: Mapping[str, str],
    judges: Sequence[Judge | None],
    *,
    controls: int,
    seed: int,
) -> Iterator[JudgingForecast]:
    """Forecast each judge with a model, the first with controls; `said` is by question id."""
    answered = [question for question in questions if question.question_id in said]
    verdicts = [(question, said[question.question_id]) for question in answered]
    drawn = draw_controls(answered, said, sample=controls, seed=seed)
    made_up = [(control.question, control.hypothesis) for control in drawn]
    for number, judge in enumerate(judges):
        if judge is not None and judge.meter is not None:
            yield _forecast(judge, verdicts + made_up if number == 0 else verdicts)


def _forecast(judge: Judge, verdicts: Iterable[tuple[QuestionDigest, str]]) -> JudgingForecast:
    prompts = [
        characters for question, said in verdicts for characters in judge.prompts(question, said)
    ]
    tokens = sum(map(tokens_at_least_one, prompts))
    price = judge.meter.price if judge.meter else None
    return JudgingForecast(judge.id, len(prompts), tokens, price)


def _selected(source: QuestionSource) -> tuple[Dataset, set[str]]:
    dataset = open_source(source)
    return dataset, {q.question_id for q in select(dataset.outlines, source.filters)}
