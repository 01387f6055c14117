"""Designs as settings: what is searched, and what counts for the rank."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assistant.errors import AssistantError
from assistant.services import open_services
from assistant.settings import load_settings
from memory_store import Query, Recalled, Round
from memory_store.errors import MemoryStoreError

NO_OTHER_SIGNAL = {name: 0 for name in ("words", "session_words")}
SAID = datetime(2024, 3, 1, tzinfo=UTC)


async def recalled(data_dir: Path, **design: Any) -> Recalled:
    settings = load_settings(data_dir=data_dir, embedder="hash", **design)
    async with open_services(settings) as services:
        said = "I moved to Ghent. Where can one eat well?"
        await services.store.remember([Round("ann", "s", 0, SAID, said, "At the harbour.")])
        found = await services.store.recall(Query("ann", "Where did I move?", explained=True))
        return found.rounds[0]


async def test_a_weight_of_nothing_leaves_a_signal_out(tmp_path: Path) -> None:
    both = await recalled(tmp_path)
    dense = await recalled(tmp_path, recall={"weights": NO_OTHER_SIGNAL})
    assert both.similarity > dense.similarity == pytest.approx(dense.signals["dense"])


async def test_the_nearest_key_is_one_of_the_design(tmp_path: Path) -> None:
    def key(found: Recalled) -> tuple[str, ...]:
        return next(reason.because for reason in found.reasons if reason.signal == "dense")

    assert key(await recalled(tmp_path / "all")) == ("I moved to Ghent.",)
    raw = await recalled(tmp_path / "raw", keys={"kinds": ["raw"]})
    assert key(raw) == ("I moved to Ghent. Where can one eat well?",)


async def test_keys_belong_to_the_memory(tmp_path: Path) -> None:
    await recalled(tmp_path)
    with pytest.raises((MemoryStoreError, AssistantError), match="assistant reindex"):
        await recalled(tmp_path, keys={"kinds": ["raw"]})


@pytest.mark.parametrize("kinds", [["keyphrases"], ["summary", "keyphrases"]])
async def test_keys_that_nothing_makes_stop_the_start(tmp_path: Path, kinds: list[str]) -> None:
    with pytest.raises(AssistantError, match=f"nothing makes {kinds[0]}"):
        await recalled(tmp_path, keys={"kinds": kinds})


async def test_rounds_without_a_key_of_the_design_are_counted(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path, embedder="hash", keys={"kinds": ["fact"]})
    async with open_services(settings) as services:
        for number, said in enumerate(["I live in Ghent.", "Where can one eat well?"]):
            await services.store.remember([Round("ann", "s", number, SAID, said, "At home.")])
        assert services.store.key_fallbacks == {"key": 1}
