"""What makes each published design itself."""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.api.replies.service import DesignDescription
from assistant.designs.control_points import KeySource, QueryKind
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
    # The summary and the fact of each session.
    assert [one.record.round.session_id for one in recall.read] == ["s1", "s1", "s0", "s0"]
    assert all(one.sources for one in recall.read)


async def test_ld_agent_counts_shared_topics(tmp_path: Path) -> None:
    said = [(0, "The orchestra rehearses on Mondays.", "Good."), (0, "I bake bread.", "Good.")]
    async with told(tmp_path, "ld-agent", said) as services:
        assert "orchestra" in texts(await found(services, "Which orchestra?"))[0]


async def test_ld_agent_reads_summaries_and_facts_by_the_key_phrases_of_a_question(
    tmp_path: Path,
) -> None:
    said = [(0, "I live in Ghent. Which bread keeps for a whole week?", "Rye does.")]
    async with told(tmp_path, "ld-agent", said) as services:
        read = texts(await found(services, "Where do I live?"))
        assert services.design is not None
        assert services.design.chosen.query is QueryKind.KEYPHRASES
        assert services.design.chosen.keys == (KeySource.VALUE,)
    assert "I live in Ghent." in read
    assert any("bread" in text for text in read)


async def test_ld_agents_memories_fade_as_the_authors_have_it(tmp_path: Path) -> None:
    said = [(0, "I repaired the old bicycle.", "Well done.")]
    async with told(tmp_path, "ld-agent", said) as services:
        near = [
            (await found(services, "The bicycle?", days_later=days)).read[0].similarity
            for days in (0, 100)
        ]
    ten_million_seconds = 1e7 / 86_400
    assert near[1] / near[0] == pytest.approx(math.exp(-100 / ten_million_seconds))


async def test_facts_of_one_session_are_all_read(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path, embedder="hash", design="chatgpt-facts")
    async with open_services(settings) as services:
        texts_said = ("I live in Ghent.", "My dog is called Bo.")
        told_in_one = [
            Round("ann", "s", n, FIRST, text, "Nice.") for n, text in enumerate(texts_said)
        ]
        await services.store.remember(told_in_one)
        recall = await found(services, "My dog in Ghent?")
    assert len({one.record.id for one in recall.read}) == len(texts_said)


@pytest.mark.parametrize(
    ("name", "told_of"),
    [
        ("hipporag", {"value": "round", "keys": ["entity"], "query": "entity", "time": "off"}),
        ("raptor", {"value": "round + summary", "keys": ["value", "summary"], "time": "off"}),
        ("memwalker", {"value": "round + summary", "keys": ["value", "summary"], "time": "off"}),
        ("memorybank", {"value": "round + summary", "keys": ["value"], "time": "decay"}),
        ("ld-agent", {"value": "summary + fact", "query": "keyphrases", "time": "decay"}),
        ("in-context-rag", {"value": "round", "keys": ["value"], "time": "off"}),
        ("aide-memoire", {"value": "round", "keys": ["value", "fact"], "time": "lift"}),
    ],
)
async def test_a_server_tells_what_its_design_does(
    tmp_path: Path, name: str, told_of: dict[str, object]
) -> None:
    async with told(tmp_path, name, []) as services:
        told_now = DesignDescription.of_server(services).model_dump()
    assert told_now.items() >= told_of.items()


async def test_a_design_that_fades_tells_a_chosen_filter_too(tmp_path: Path) -> None:
    chosen = {"time": "filter", "value": "summary"}
    async with told(tmp_path, "memorybank", [], choices=chosen) as services:
        told_now = DesignDescription.of_server(services)
    assert (told_now.time, told_now.value) == ("decay + filter", "summary")


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
