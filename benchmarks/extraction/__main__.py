"""`python -m benchmarks.extraction [--held-out] [--model NAME …] [--show]`: extraction, scored.

People's rounds are recorded in an assistant of this process, a session at a time, and what it holds
of them afterwards is held against annotations (`scoring.py` says how). Rules are always measured; a
model is the assistant's own `extract_model`, with the address and key of the settings.

Choose on the people of `dev`, judge on those of `held_out`.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from assistant.app import create_app
from assistant.settings import Settings
from benchmarks.extraction.scoring import AnnotatedFact, FoundFact, Score

HERE = Path(__file__).parent
DEV, HELD_OUT = sorted(HERE.glob("dev/*.json")), sorted(HERE.glob("held_out/*.json"))
_COLUMNS = (
    *("stated", "found", "in doubt", "held another's", "missed"),
    *("extracted", "not stated", "another's"),
    *("days right", "days judged", "replaced", "links right", "links in doubt"),
    *("links missed", "links wrong"),
)
_Line = Mapping[str, Any]


async def score(files: Sequence[Path], model: str | None = None) -> Score:
    """Score the facts that rules, or a model, find in the rounds of these people."""
    scored = Score()
    chosen: dict[str, Any] = {"extract_model": model} if model else {}
    for file in files:
        rounds = json.loads(file.read_text("utf-8"))["rounds"]
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(data_dir=Path(folder), **chosen)
            found = list(_found(rounds, await _recorded(rounds, settings), by_model=bool(model)))
        stated = [
            AnnotatedFact.of(one, n) for n, said in enumerate(rounds) for one in said["facts"]
        ]
        scored.add(stated, found)
    return scored


async def _recorded(rounds: Sequence[_Line], settings: Settings) -> list[_Line]:
    """The exported line of each round, after all were told in order, one session a day."""
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http,
    ):
        for day, session in groupby(rounds, key=lambda one: str(one["at"])[:10]):
            messages = [message for one in session for message in _messages(one)]
            told = {"user_id": "someone", "messages": messages, "wait": True, "close": True}
            reply = await http.post(f"/v1/sessions/{day}/messages", json=told, timeout=None)
            reply.raise_for_status()
        exported = await http.get("/v1/users/someone/export")
    exported.raise_for_status()
    lines = [json.loads(line) for line in exported.text.splitlines()]
    kept = [line for line in lines if "user_text" in line]
    if failed := [line["failure"] for line in kept if line["enrichment"] != "done"]:
        raise SystemExit(f"{len(failed)} rounds were not extracted: {failed[0]}")
    return sorted(kept, key=lambda line: str(line["session_date"]))


def _messages(said: _Line) -> Iterator[_Line]:
    at = f"{said['at']}Z"
    yield {"role": "user", "content": said["said"], "timestamp": at}
    yield {"role": "assistant", "content": said.get("reply", "Noted."), "timestamp": at}


def _found(
    rounds: Sequence[_Line], kept: Sequence[_Line], *, by_model: bool
) -> Iterator[FoundFact]:
    """The facts of one person, each with the number of its round."""
    places = {line["session_date"]: n for n, line in enumerate(kept)}
    if len(places) != len(rounds):
        raise SystemExit(f"{len(rounds)} rounds were told, {len(places)} are kept")
    for number, line in enumerate(kept):
        for one in line["facts"]:
            if one["speaker"] == "assistant":
                continue
            by, against = one.get("superseded_by"), one.get("contradicts", ())
            yield FoundFact(
                number,
                one["text"],
                one["speaker"] == "user",
                one.get("in_doubt", False),
                frozenset(map(_days, one["event_dates"])),
                places.get(by["said_at"]) if by else None,
                frozenset(places[older["said_at"]] for older in against),
                counts=(one["source"] != "rule") is by_model,
            )


def _days(range: Sequence[str | None]) -> str:
    first, last = (day or "…" for day in range)
    return first if first == last else f"{first}/{last}"


def main() -> None:
    """Print the counts of the rules and of each model and, if asked, what went otherwise."""
    parser = argparse.ArgumentParser(prog="benchmarks.extraction", description=__doc__)
    parser.add_argument("--held-out", action="store_true", help="the people nothing was made with")
    parser.add_argument("--model", nargs="+", default=[], help="models as `extract_model`")
    parser.add_argument("--show", action="store_true", help="print what went otherwise")
    arguments = parser.parse_args()
    files, console = HELD_OUT if arguments.held_out else DEV, Console()
    scores = {name or "rules": asyncio.run(score(files, name)) for name in [None, *arguments.model]}
    table = Table("", *scores)
    for column in _COLUMNS:
        table.add_row(column, *(str(one.counts[column]) for one in scores.values()))
    table.add_row("precision", *(f"{one.precision:.2f}" for one in scores.values()))
    table.add_row("recall", *(f"{one.recall:.2f}" for one in scores.values()))
    for name, one in scores.items() if arguments.show else ():
        for line in one.shown:
            console.print(f"{name} {line}", markup=False, highlight=False, soft_wrap=True)
    console.print(table)


if __name__ == "__main__":
    main()
