"""What makes each published design itself."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.designs.published.memorybank import MemoryBank
from assistant.designs.registry import PUBLISHED, class_of
from assistant.designs.value import of_round
from assistant.services import Services, open_services
from assistant.settings import load_settings
from memory_store import Query, Recall, Round

FIRST = datetime(2024, 3, 1, 10, tzinfo=UTC)
Said = Sequence[tuple[int, str, str]]
"""Days after the first, what the user says, what is replied."""


@asynccontextmanager
async def told(folder: Path, design: str, said: Said, **settings: Any) -> AsyncIterator[Services]:
    settings = {"data_dir": folder, "embedder": "hash", "design": design, **settings}
    async with open_services(load_settings(**settings)) as services:
        for number, (day, user, reply) in enumerate(said):
            at = FIRST + timedelta(days=day, minutes=number)
            await services.store.remember([Round("ann", f"s{number}", 0, at, user, reply)])
        yield services


async def found(services: Services, text: str, days_later: int = 30) -> Recall:
    on = (FIRST + timedelta(days=days_later)).date()
    return (await services.retriever.retrieve(Query("ann", text, asked_on=on))).recall


def texts(recall: Recall) -> list[str]:
    return [one.record.round.user_text for one in recall.read]


async def test_memorybank_forgets_by_age_and_less_what_came_up_again(tmp_path: Path) -> None:
    said = [
        (0, "I play the cello in the town orchestra.", "Nice."),
        (1, "I painted the shed green.", "Nice."),
        (20, "The cello in the town orchestra: I play again.", "Nice."),
    ]
    async with told(tmp_path, "memorybank", said) as services:
        records = await services.store.records("ann")
        assert isinstance(services.design, MemoryBank)
        retention = await services.design.retention(records)
    cello, shed = of_round(records[0]), of_round(records[1])
    assert retention.recalls == {records[0].id: 1}
    by_day = [retention.of(shed, date(2024, 3, day)) for day in (2, 5, 30)]
    assert by_day == sorted(by_day, reverse=True)
    assert by_day[0] == 1.0
    assert retention.of(cello, date(2024, 3, 30)) > retention.of(shed, date(2024, 3, 30))


async def test_memorybank_summarises_each_day(tmp_path: Path) -> None:
    said = [(0, "I saw a heron.", "Where?"), (0, "I saw a stork.", "Oh."), (3, "I ran.", "Good.")]
    async with told(tmp_path, "memorybank", said) as services:
        recall = await found(services, "heron stork")
    summaries = [one for one in recall.read if one.sources]
    assert [len(one.sources) for one in summaries] == [2, 1]
    assert "heron" in summaries[0].record.round.user_text
    assert "stork" in summaries[0].record.round.user_text


async def test_ld_agent_prefers_the_newer_of_two_alike(tmp_path: Path) -> None:
    said = [
        (0, "I repaired the old bicycle.", "Well done."),
        (90, "I repaired the old bicycle.", ""),
    ]
    async with told(tmp_path, "ld-agent", said) as services:
        recall = await found(services, "What about the bicycle?", days_later=100)
    assert [one.record.round.session_id for one in recall.read] == ["s1", "s0"]
    assert all(one.sources for one in recall.read)


async def test_ld_agent_counts_shared_topics(tmp_path: Path) -> None:
    said = [(0, "The orchestra rehearses on Mondays.", "Good."), (0, "I bake bread.", "Good.")]
    async with told(tmp_path, "ld-agent", said) as services:
        assert "orchestra" in texts(await found(services, "Which orchestra?"))[0]


async def test_chatgpts_facts_lose_what_was_overwritten(tmp_path: Path) -> None:
    said = [(0, "I live in Ghent.", "Nice."), (9, "I live in Bruges now.", "Nice.")]
    async with told(tmp_path, "chatgpt-facts", said) as services:
        assert texts(await found(services, "Where do I live?")) == ["I live in Bruges now."]


async def test_facts_are_read_without_their_rounds(tmp_path: Path) -> None:
    said = [(0, "I live in Ghent. Which bread keeps long?", "Rye keeps long.")]
    for design in ("chatgpt-facts", "coze-facts"):
        async with told(tmp_path / design, design, said) as services:
            recall = await found(services, "Which bread?")
        assert [
            (one.record.round.user_text, one.record.round.assistant_text) for one in recall.read
        ] == [("I live in Ghent.", "")]


async def test_cozes_facts_are_sparse(tmp_path: Path) -> None:
    said = [
        (0, f"I saw {bird}. I heard {bird} too. My dog is called Bo.", "Nice.") for bird in "ab"
    ]
    async with told(tmp_path, "coze-facts", said) as services:
        assert set(texts(await found(services, "What did I see?"))) == {"My dog is called Bo."}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_file_of_a_published_design_is_named_as_the_design(name: str) -> None:
    assert class_of(name).name == name
    assert class_of(name).paper
