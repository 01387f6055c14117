"""`python -m benchmarks.kinds`: how well the kinds of somebody's messages are told who trained
nothing: of the people held out, and of each other one in turn."""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.kinds.train import (
    EXAMPLES,
    HELD_OUT,
    LabelledMessage,
    examples,
    ordinary,
    short,
    trained,
)
from memory_store.language.kinds import Kind, Kinds


def main() -> None:
    """Print the shares of messages told right."""
    parser = argparse.ArgumentParser(prog="benchmarks.kinds", description=__doc__)
    parser.add_argument("--folder", type=Path, default=EXAMPLES)
    parser.add_argument("--show", action="store_true", help="print each mistake")
    arguments = parser.parse_args()
    every = examples(arguments.folder)
    known = [one for one in every if one.person not in HELD_OUT]
    others = ordinary()
    console = Console()
    table = Table("person", "messages", "all kinds", "English", "tell or ask")
    for person in dict.fromkeys(one.person for one in every):
        asked = [one for one in every if one.person == person]
        model = trained([one for one in known if one.person != person], others, short())
        _row(table, person, asked, model)
        if arguments.show:
            _mistakes(console, asked, model)
    console.print(table)


def _told(model: Kinds, text: str) -> Kind:
    shares = model.certainties(text)
    return max(shares, key=lambda kind: shares[kind])


def _row(table: Table, person: str, asked: Sequence[LabelledMessage], model: Kinds) -> None:
    told = [(one, _told(model, one.text)) for one in asked]
    right = [(one, kind in (one.kind, *one.also)) for one, kind in told]
    english = [is_right for one, is_right in right if one.language == "en"]
    either = [
        kind.asks == one.kind.asks
        for one, kind in told
        if one.kind in (Kind.TELLS, Kind.ASKS, Kind.ADVICE, Kind.ABOUT_REPLY)
        and (kind.asks or kind is Kind.TELLS)
    ]
    shares = [[is_right for _, is_right in right], english, either]
    table.add_row(person, str(len(asked)), *map(_share, shares))


def _share(right: Sequence[bool]) -> str:
    return f"{sum(right) / len(right):.3f}" if right else ""


def _mistakes(console: Console, asked: Sequence[LabelledMessage], model: Kinds) -> None:
    missed: Counter[tuple[str, str]] = Counter()
    for one in asked:
        told = _told(model, one.text)
        if told not in (one.kind, *one.also):
            missed[one.kind, told] += 1
            console.print(f"{one.person}: {one.kind} taken for {told}: {one.text}", markup=False)
    console.print(missed.most_common(12))


if __name__ == "__main__":
    main()
