"""Notices: every worker hears of what another has changed, and forgets what that one forgot."""

import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from qdrant_binary import Qdrant

from assistant.chat.turns import Role, Turn
from assistant.clock import wall_clock
from assistant.services import Services, open_services
from assistant.settings import Settings
from assistant.settings.groups import QdrantSettings
from assistant.worker_messages import ERASED, Notices
from memory_store import Documents, Round
from memory_store.embedding import TextKind

NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)
TEXT = "I own two cats."


class Heard:
    """How often it was told; it can be made to fail."""

    def __init__(self) -> None:
        self.times = 0
        self.fails = False

    async def __call__(self) -> None:
        if self.fails:
            raise OSError("not now")
        self.times += 1


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def both(documents: tuple[Documents, Documents], heard: Heard) -> tuple[Notices, Notices]:
    one, other = (Notices(mine, wall_clock) for mine in documents)
    one.watch("news", heard)
    return one, other


async def test_each_change_is_heard_once(both: tuple[Notices, Notices], heard: Heard) -> None:
    one, other = both
    await one.look()
    assert heard.times == 1  # whatever was there before
    for _ in range(2):
        await one.look()
    assert heard.times == 1
    before = await one.version("news")
    await other.tell("news")
    await other.tell("others")
    assert await one.version("news") != before
    for _ in range(2):
        await one.look()
    assert heard.times == 2


async def test_who_tells_is_told_only_of_others(
    both: tuple[Notices, Notices], heard: Heard
) -> None:
    one, other = both
    await one.look()
    for _ in range(3):
        await one.tell("news")
        await one.look()
    assert heard.times == 1
    await other.tell("news")
    await one.tell("news")
    await one.look()
    assert heard.times == 2


async def test_who_could_not_listen_is_told_again(
    both: tuple[Notices, Notices], heard: Heard
) -> None:
    one, other = both
    await one.look()
    await other.tell("news")
    heard.fails = True
    with pytest.raises(OSError, match="not now"):
        await one.look()
    heard.fails = False
    await one.look()
    assert heard.times == 2


@pytest.fixture
async def assistants(
    qdrant: Qdrant, collection: str, tmp_path: Path
) -> AsyncIterator[tuple[Services, Services]]:
    """Two that share a server and no disk."""
    server = QdrantSettings(collection=collection, grpc_port=qdrant.grpc_port)
    async with AsyncExitStack() as opened:
        one, other = [
            await opened.enter_async_context(
                open_services(
                    Settings(
                        data_dir=tmp_path / name,
                        embedder="hash",
                        qdrant_url=qdrant.url,
                        qdrant=server,
                    )
                )
            )
            for name in ("one", "other")
        ]
        yield one, other
    qdrant.forget(f"{collection}.shared")


async def encoded(services: Services) -> int:
    """How many texts it has to encode to have the vector of what was said."""
    before = services.embedder.stats.encoded
    await services.embedder.embed([TEXT], TextKind.DOCUMENT)
    return services.embedder.stats.encoded - before


def in_memory() -> list[Round]:
    """The rounds of this process in which that was said."""
    gc.collect()
    rounds = [one for one in gc.get_objects() if type(one) is Round]
    return [one for one in rounds if one.user_text == TEXT]


@pytest.mark.qdrant_server
async def test_what_one_forgets_leaves_the_memory_of_the_other(
    assistants: tuple[Services, Services],
) -> None:
    one, other = assistants
    assert one.notices
    assert other.notices
    await other.recorder.record("ann", "s", [Turn(Role.USER, TEXT, NOON, True)])
    assert in_memory()
    for services in assistants:
        await encoded(services)
        assert services.notices
        await services.notices.look()
        await encoded(services)
    assert [await encoded(services) for services in assistants] == [0, 0]
    await one.recorder.forget("ann")
    await one.embedder.embed(["Another text."], TextKind.DOCUMENT)
    assert await encoded(other) == 0
    for services in assistants:
        assert services.notices
        await services.notices.look()
    assert await encoded(other) == 1
    assert not in_memory()
    # The one knows by itself what it has forgotten, and keeps the rest.
    before = one.embedder.stats.encoded
    await one.embedder.embed(["Another text."], TextKind.DOCUMENT)
    assert one.embedder.stats.encoded == before
    assert await one.notices.version(ERASED) == await other.notices.version(ERASED)
