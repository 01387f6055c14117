"""LangGraph's store on SQLite, which LangMem's tools write and search: a value for each round."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.rivals.rounds import RecalledRound, Round
from benchmarks.rivals.serving import serve
from benchmarks.rivals.wire import DIMENSION, embedded

_AT_ONCE = 1000


class LangGraphMemory:
    """A namespace for each user; the store's own extension keeps vectors of the field `text`."""

    def __init__(self, folder: Path, embeddings: str) -> None:
        from langgraph.store.sqlite import SqliteStore

        file = sqlite3.connect(
            folder / "store.sqlite", check_same_thread=False, isolation_level=None
        )
        index = {"dims": DIMENSION, "embed": lambda texts: embedded(embeddings, texts)}
        self._store = SqliteStore(file, index=index)
        self._store.setup()

    def add(self, user: str, rounds: Sequence[Round]) -> None:
        """Add all rounds in one batch of puts."""
        from langgraph.store.base import PutOp

        # Only the text is encoded. `index` says so here, as the store ignores the index's `fields`.
        puts = [PutOp((user,), key, value, index=["text"]) for key, value in values(rounds)]
        self._store.batch(puts)

    def search(self, user: str, question: str, limit: int) -> list[RecalledRound]:
        """The rounds of the nearest values."""
        return found(self._store.search((user,), query=question, limit=limit))

    def forget(self, user: str) -> None:
        """Delete every value of the user's namespace."""
        while items := self._store.search((user,), limit=_AT_ONCE):
            for item in items:
                self._store.delete((user,), item.key)


def values(rounds: Iterable[Round]) -> list[tuple[str, dict[str, Any]]]:
    """Rounds as keys and values of the store."""
    return [
        (
            f"{told.session}-{told.index}-{told.turns[0][0]}",
            {"session": told.session, "round": told.index, "said": told.said, "text": told.text},
        )
        for told in rounds
    ]


def found(items: Iterable[Any]) -> list[RecalledRound]:
    """The rounds in the items that the store finds."""
    kept = [item.value for item in items]
    return [
        RecalledRound(value["session"], value["round"], value["said"], value["text"])
        for value in kept
    ]


if __name__ == "__main__":
    serve(LangGraphMemory)
