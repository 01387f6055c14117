"""Keys that assistants share: made and revoked in one place, known in all."""

import asyncio

import pytest

from assistant.access.keys import SHARED_KEYS, KeyScope, SharedKeys, new_key
from assistant.errors import ConfigError
from memory_store import Document, Documents


@pytest.fixture
def both(documents: tuple[Documents, Documents]) -> tuple[SharedKeys, SharedKeys]:
    return SharedKeys(documents[0]), SharedKeys(documents[1])


async def test_what_one_makes_the_other_knows(both: tuple[SharedKeys, SharedKeys]) -> None:
    one, other = both
    assert await other.keys() == ()
    assert await other.remove("key-1") is None
    ann = new_key("Ann’s", "ann", (), created_at="2026-01-01T00:00:00+00:00").key
    app = new_key("app", None, [KeyScope.ACT_AS, KeyScope.SET_TIME], created_at="now").key
    await one.add(ann)
    await other.add(app)
    assert await one.keys() == await other.keys() == (ann, app)
    assert await other.remove(ann.id) == ann
    assert await one.remove(ann.id) is None
    assert await one.keys() == (app,)


async def test_nobodys_key_is_lost(both: tuple[SharedKeys, SharedKeys]) -> None:
    made = [new_key(f"{n}", f"user {n}", (), created_at="now").key for n in range(8)]
    await asyncio.gather(*(both[n % 2].add(key) for n, key in enumerate(made)))
    assert set(await both[0].keys()) == set(made)
    gone = await asyncio.gather(*(both[n % 2].remove(made[n // 2].id) for n in range(8)))
    assert {key.id for key in gone if key} == {key.id for key in made[:4]}
    assert set(await both[1].keys()) == set(made[4:])


async def test_what_cannot_be_read_is_not_no_keys(
    both: tuple[SharedKeys, SharedKeys], documents: tuple[Documents, Documents]
) -> None:
    await documents[0].write(SHARED_KEYS, {"format": "other"}, Document())
    for work in (both[0].keys(), both[1].remove("a")):
        with pytest.raises(ConfigError, match="cannot read the keys"):
            await work
