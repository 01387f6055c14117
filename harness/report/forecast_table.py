"""A forecast for a person."""

from harness.assistants.profile import Price
from harness.datasets.registry import open_dataset
from harness.datasets.selection import select
from harness.replay.modes.choice import Approach
from harness.report.table import Table
from harness.runs.forecast import (
    ANSWER_TOKENS,
    CHAT_SECONDS,
    RECORD_SECONDS,
    Forecast,
    forecast,
)
from harness.runs.pipeline import Source


def dry_run_table(source: Source, approach: Approach, concurrency: int) -> Table:
    """What a run on this data would take; reads all of it, sends nothing."""
    dataset = open_dataset(source.dataset, source.file, source.gold)
    ids = {question.question_id for question in select(dataset.outlines, source.filters)}
    made = forecast(dataset.histories(ids), approach)
    return forecast_table(made, approach.profile.price, concurrency)


def forecast_table(made: Forecast, price: Price | None, concurrency: int) -> Table:
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
        ("US dollars", "no price known" if dollars is None else f"{dollars:,.2f}"),
        ("time", _time(made.seconds(concurrency))),
    ]
    note = (
        f"Nothing was sent. Estimates: four characters a token, {ANSWER_TOKENS} tokens an answer, "
        f"{CHAT_SECONDS:g} s a chat call, {RECORD_SECONDS:g} s a recorded turn, {concurrency} "
        "users at a time; without the judge, and what the assistant spends behind its own routes."
    )
    return Table("Dry run", ("what", "how much"), rows, note)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
