"""`python -m benchmarks.languages`: does a question find its message, in whatever language?

The messages of all languages are one memory, each on its day. Every question is asked on the
day after the last message, in the language of its message or in English.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from assistant.services import make_embedder
from assistant.settings import load_settings
from memory_store import (
    KeyDesign,
    MemoryStore,
    Query,
    Round,
)
from memory_store.embedding import ENCODERS, Embedder
from memory_store.engines import EdgeEngine
from memory_store.language import LANGUAGES

_ASKED_ON = date(2024, 5, 18)
_USER = "anyone"


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank, from 1, at which a question found the message that answers it; 0 if it did not."""

    language: str
    asked_in: str
    question: str
    place: int


async def ranks(diaries: Sequence[dict[str, Any]], embedder: Embedder) -> list[Rank]:
    """Tell all messages of all diaries, then ask all questions."""
    with tempfile.TemporaryDirectory() as folder:
        design = KeyDesign(language=LANGUAGES["plain"])
        store = MemoryStore(EdgeEngine(Path(folder)), embedder, design=design)
        await store.open()
        try:
            for diary in diaries:
                rounds = [_round(diary["language"], *one) for one in enumerate(diary["messages"])]
                await store.remember(rounds)
            return [
                Rank(
                    diary["language"],
                    asked["language"],
                    asked["text"],
                    await _place(store, asked["text"], f"{diary['language']}-{asked['message']}"),
                )
                for diary in diaries
                for asked in diary["questions"]
            ]
        finally:
            await store.close()


def _round(language: str, number: int, message: dict[str, str]) -> Round:
    said_at = datetime.fromisoformat(message["at"]).replace(tzinfo=UTC)
    return Round(_USER, f"{language}-{number}", 0, said_at, message["text"], "")


async def _place(store: MemoryStore, question: str, session_id: str) -> int:
    found = await store.recall(Query(_USER, question, limit=20, asked_on=_ASKED_ON, sessions=False))
    sessions = [one.record.round.session_id for one in found.rounds]
    return sessions.index(session_id) + 1 if session_id in sessions else 0


def main() -> None:
    """Print how many questions found their message first, and among the first five."""
    parser = argparse.ArgumentParser(prog="benchmarks.languages", description=__doc__)
    parser.add_argument("--show", action="store_true", help="print questions not answered first")
    parser.add_argument("--encoder", help=f"such as {ENCODERS[-1]}; otherwise that of the settings")
    arguments = parser.parse_args()
    files = sorted(Path(__file__).parent.glob("*.json"))
    diaries = [json.loads(file.read_text("utf-8")) for file in files]
    embedder = make_embedder(load_settings(embedder=arguments.encoder, embedder_cache_mb=0))
    found = asyncio.run(ranks(diaries, embedder))
    console = Console()
    if arguments.show:
        for one in found:
            if one.place != 1:
                console.print(f"{one.place:>3} {one.language} {one.question}", highlight=False)
    table = Table("language", "asked in", "questions", "first", "first five")
    for language, asked_in in dict.fromkeys((one.language, one.asked_in) for one in found):
        _row(table, language, asked_in, found)
    _row(table, "all", "its own", [one for one in found if one.asked_in == one.language])
    _row(table, "all", "en", [one for one in found if one.asked_in == "en"])
    console.print(embedder.identity.name, table)


def _row(table: Table, language: str, asked_in: str, found: Sequence[Rank]) -> None:
    if language != "all":
        found = [one for one in found if (one.language, one.asked_in) == (language, asked_in)]
    first = sum(one.place == 1 for one in found)
    five = sum(0 < one.place <= 5 for one in found)
    table.add_row(language, asked_in, str(len(found)), str(first), str(five))


if __name__ == "__main__":
    main()
