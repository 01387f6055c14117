"""An upgrade with a better encoder stops no memory: it goes on with the one that wrote it, says so,
and is changed over by one command."""

import asyncio
import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from assistant.cli.console import shown_progress
from assistant.operations import reindex
from assistant.reindexing import ReindexStatus
from assistant.services import open_services
from assistant.settings import Settings
from memory_store import Query, Round
from memory_store.embedding import ENCODERS, PACKAGED

pytestmark = pytest.mark.weights
TEA = Round("ann", "s", 0, datetime(2023, 5, 20, tzinfo=UTC), "I like green tea.")


async def found_with(settings: Settings) -> tuple[str, list[str]]:
    """The encoder in use, and what a question finds."""
    async with open_services(settings) as services:
        recall = await services.store.recall(Query("ann", "What do I drink?"))
        texts = [one.record.round.user_text for one in recall.rounds]
        return services.embedder.identity.name, texts


async def test_an_old_memory_goes_on_with_its_encoder_until_it_is_reindexed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = ENCODERS[-1]
    assert old != PACKAGED
    async with open_services(Settings(data_dir=tmp_path, embedder=old)) as services:
        await services.store.remember([TEA])
    settings = Settings(data_dir=tmp_path)
    with caplog.at_level(logging.WARNING):
        assert await found_with(settings) == (old, [TEA.user_text])
    assert f"written with {old} and goes on with it; {PACKAGED} finds more" in caplog.text
    with shown_progress(Console(quiet=True)) as progress:
        done = await reindex(settings, progress, keep_old=False, again=False)
    assert done.was_needed
    assert await found_with(settings) == (PACKAGED, [TEA.user_text])


async def test_the_running_server_changes_it_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = ENCODERS[-1]
    async with open_services(Settings(data_dir=tmp_path, embedder=old)) as services:
        await services.store.remember([TEA])
    settings = Settings(data_dir=tmp_path)
    async with open_services(settings) as services:
        assert "POST /v1/reindex" in caplog.text
        assert services.embedder.identity.name == old
        assert services.reindexing.start()
        assert not services.reindexing.start()
        while services.reindexing.progress.status is ReindexStatus.RUNNING:
            recall = await services.store.recall(Query("ann", "What do I drink?"))
            assert [one.record.round.user_text for one in recall.rounds] == [TEA.user_text]
            await asyncio.sleep(0.01)
        assert services.reindexing.progress.status is ReindexStatus.DONE
        assert services.embedder.identity.name == PACKAGED
    assert await found_with(settings) == (PACKAGED, [TEA.user_text])


async def test_a_new_memory_takes_the_best(tmp_path: Path) -> None:
    assert await found_with(Settings(data_dir=tmp_path)) == (PACKAGED, [])
