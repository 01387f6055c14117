"""The quoting reader in a language without rules: the nearest quotes, each with its day."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from quotes import ask, round

from memory_store import KeyDesign, MemoryStore
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import EdgeEngine
from memory_store.language import PLAIN


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[MemoryStore]:
    store = MemoryStore(
        EdgeEngine(tmp_path / "memory"), Embedder(HashEncoder()), design=KeyDesign(language=PLAIN)
    )
    await store.open()
    yield store
    await store.close()


async def test_the_nearest_sentences_are_quoted_with_their_day(store: MemoryStore) -> None:
    await store.remember(
        [
            round(0, "Gestern war ich müde. Meine Katze heißt Miso."),
            round(1, "Der Zug nach Brügge hatte Verspätung."),
        ]
    )
    answer, _ = await ask(store, "Wie heißt meine Katze?")
    assert "Meine Katze heißt Miso." in answer
    assert "2023-05-20" in answer
    assert "Zug" not in answer


async def test_nothing_near_is_not_known(store: MemoryStore) -> None:
    await store.remember([round(0, "Meine Katze heißt Miso.")])
    answer, _ = await ask(store, "Wann kommt der Zug?")
    assert answer.startswith("I don't know")
