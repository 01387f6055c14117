"""`python -m benchmarks.marks [--show] [--data NAME=FILE …]`: marks in prompts, against labels.

Quoted messages, standing requests, values that were replaced, denials and weekdays; of people made
up for it, and of chats whose texts are not ours (`--data beam=…`), each on the half that thresholds
were chosen with and on the other one.
"""

import argparse
import asyncio
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from assistant.answering.context import Context, read_memory
from assistant.answering.layouts import LAYOUTS, QUOTING
from assistant.answering.plan import Layout, ReadingPlan
from assistant.answering.reader import Question
from assistant.app import create_app
from assistant.models.token_counter import about_tokens
from assistant.settings import Settings
from benchmarks.marks.labelled import (
    HELD_OUT,
    PEOPLE,
    Labelled,
    LabelledHistory,
    Pair,
    digest,
    drawn,
    person,
)
from memory_store import MemoryStore, Query, Recalled

_HALVES = {"chosen with": PEOPLE, "held out": HELD_OUT}
_MARKS = ("quoting", "standing", "replaced", "contradicted", "weekdays")
_PLENTY = ReadingPlan(context_tokens=200_000)
_ROUNDS = 100
_PICKS = ("next", "this", "last")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass
class MarkCounts:
    """Numbers of right, wrong and missing marks, by name; `otherwise` has the wrong and missing
    ones as lines to show."""

    counts: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    otherwise: list[str] = field(default_factory=list)
    statements: int = 0
    """Messages that quote nothing."""

    def compare(self, mark: str, found: Iterable[object], expected: Iterable[object]) -> None:
        """Count the marks that were found against the marks that should be there."""
        found, expected = set(found), set(expected)
        for name, some in (
            ("right", found & expected),
            ("wrong", found - expected),
            ("missing", expected - found),
        ):
            self.counts[mark][name] += len(some)
            if name != "right":
                self.otherwise += sorted(f"[{mark}, {name}] {one}" for one in some)


async def measure(store: MemoryStore, history: LabelledHistory, tally: MarkCounts) -> None:
    """Compare all marks of one history."""
    records = await store.remember([one.round for one in history.rounds])
    if history.questions:
        contexts = [await _asked(store, history, *one) for one in history.questions]
    else:
        every = [Recalled(record, 0.5) for record in records]
        last = max(record.round.session_date for record in records) + timedelta(days=1)
        question = Question("What did I say?", last)
        contexts = [await read_memory(store, question, every, _PLENTY, about_tokens)]
        _compare_rounds(history.rounds, contexts[0], tally)
    texts = {digest(one.round.user_text): one.round.user_text for one in history.rounds}
    for mark, expected in (
        ("replaced", history.replaced),
        ("contradicted", history.contradicted),
    ):
        found = {pair for context in contexts for pair in _pairs(context, mark, texts)}
        tally.compare(mark, _shown(found, texts), _shown(expected, texts))


async def _asked(
    store: MemoryStore, history: LabelledHistory, text: str, asked_at: datetime
) -> Context:
    user = history.rounds[0].round.user_id
    recall = await store.recall(Query(user, text, _ROUNDS))
    asked = store.language.asked(text, asked_at.date())
    question = Question(text, asked_at, asked=asked)
    return await read_memory(store, question, recall.rounds, ReadingPlan(), about_tokens)


def _compare_rounds(rounds: Sequence[Labelled], context: Context, tally: MarkCounts) -> None:
    layout = LAYOUTS[Layout.TEXT]
    marked = {shown.record.id for shown in context.shown if QUOTING in layout.sides(shown)[0][:200]}
    named = {shown.record.id: shown.beside.days for shown in context.shown}
    for one in rounds:
        text = one.round.user_text
        if one.quoting is not None:
            tally.statements += not one.quoting
            said = [text[:300]]
            tally.compare("quoting", said * (one.round.id in marked), said * one.quoting)
        found = {entry for entry in named.get(one.round.id, ()) if _names_weekday(entry)}
        tally.compare("weekdays", found, {f"{words} = {day}" for words, day in one.days.items()})
    requests = {digest(one.text): one.text for one in context.requests}
    expected = {request for one in rounds for request in one.standing}
    tally.compare(
        "standing",
        (requests.get(one, one) for one in requests),
        (requests.get(one, one) for one in expected),
    )


def _names_weekday(entry: str) -> bool:
    words = entry.lower().partition(" = ")[0].split()
    return words[0] in _PICKS and words[-1].startswith(_WEEKDAYS) and words[-1] != "month"


def _pairs(context: Context, mark: str, texts: dict[str, str]) -> Iterator[Pair]:
    """The message beside which each mark stands, and the message whose newer words it quotes."""
    for shown in context.shown:
        for entry in getattr(shown.beside, mark):
            newer = entry.rpartition("” by “")[2].rpartition("” on ")[0].strip("… ")
            yield (
                digest(shown.record.round.user_text),
                next((name for name, text in texts.items() if newer in text), newer),
            )


def _shown(pairs: Iterable[Pair], texts: dict[str, str]) -> set[str]:
    return {" / ".join(texts.get(one, one)[:220] for one in pair) for pair in pairs}


async def _measured(histories: Iterable[LabelledHistory]) -> MarkCounts:
    tally = MarkCounts()
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(data_dir=Path(folder)))
        async with app.router.lifespan_context(app):
            for history in histories:
                if history.rounds:
                    await measure(app.state.services.store, history, tally)
    return tally


def main() -> None:
    """Print precision and recall of each mark."""
    parser = argparse.ArgumentParser(prog="benchmarks.marks", description=__doc__)
    parser.add_argument("--data", nargs="*", default=[], metavar="NAME=FILE")
    parser.add_argument("--show", action="store_true", help="print what is wrong or missing")
    arguments = parser.parse_args()
    files = [(name, Path(file)) for name, _, file in (one.partition("=") for one in arguments.data)]
    table = Table("", *_MARKS, "own statements marked as quoted")
    console = Console(width=170)
    for half, people in _HALVES.items():
        sets = {"people": list(map(person, people))}
        sets |= {name: list(drawn(half, name, file)) for name, file in files}
        for name, histories in sets.items():
            tally = asyncio.run(_measured(histories))
            table.add_row(
                f"{name}, {half}",
                *(_rates(tally.counts[mark]) for mark in _MARKS),
                f"{tally.counts['quoting']['wrong']} of {tally.statements}",
            )
            if arguments.show:
                console.print(f"== {name}, {half}", *tally.otherwise, sep="\n", markup=False)
    console.print(table)


def _rates(counts: Counter[str]) -> str:
    right, wrong, missing = (counts[name] for name in ("right", "wrong", "missing"))
    return f"{right} of {right + wrong} right, {right} of {right + missing} found"


if __name__ == "__main__":
    main()
