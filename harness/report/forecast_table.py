"""Forecasts for a person."""

from collections.abc import Iterable, Sequence

from harness.report.table import Table
from harness.spending.forecast import (
    ANSWER_TOKENS,
    CHAT_SECONDS,
    RECORD_SECONDS,
    VERDICT_TOKENS,
    Forecast,
    JudgingForecast,
)
from harness.spending.usage import Price

_HEADER = ("what", "how much")
_UNKNOWN = "no price known"


def judging_table(answers: int, judged: Sequence[JudgingForecast]) -> Table:
    """What judging so many answers would take."""
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
