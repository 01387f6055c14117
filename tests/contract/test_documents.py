"""Documents: nobody's change is lost, whoever else writes, and nothing is written over unseen."""

import asyncio
from datetime import UTC, datetime, timedelta

from memory_store import Document, Documents

NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)


async def test_what_one_writes_the_other_reads(documents: tuple[Documents, Documents]) -> None:
    one, other = documents
    assert await other.read("keys") == Document()
    assert await other.versions(["keys"]) == {}
    body = {"said": "Schön — 好 \ud83d", "n": [1, {"a": None}]}
    done, written = await one.write("keys", body, Document())
    assert (done, written.body) == (True, body)
    assert await other.read("keys") == written
    assert await other.versions(["keys", "none"]) == {"keys": written.version}
    done, again = await other.write("keys", {}, written)
    assert (done, again.body, again.earlier) == (True, {}, (written.version,))
    assert await one.read("keys") == again


async def test_who_has_read_another_version_writes_nothing(
    documents: tuple[Documents, Documents],
) -> None:
    one, other = documents
    _, first = await one.write("a", {"by": "one"}, Document())
    assert await other.write("a", {"by": "other"}, Document()) == (False, first)
    _, second = await one.write("a", {"by": "one", "n": 2}, first)
    assert await other.write("a", {"by": "other"}, first) == (False, second)
    assert (await other.read("a")).body == {"by": "one", "n": 2}


async def test_everybody_counts(documents: tuple[Documents, Documents]) -> None:
    """Also who is overtaken between its write and reading it back."""

    async def count(mine: Documents, name: str, times: int) -> None:
        there = await mine.read("count")
        for _ in range(times):
            done = False
            while not done:
                body = {**there.body, name: there.body.get(name, 0) + 1}
                done, there = await mine.write("count", body, there)

    writers = [(documents[n % 2], f"writer {n}") for n in range(6)]
    await asyncio.gather(*(count(mine, name, 10) for mine, name in writers))
    assert (await documents[0].read("count")).body == {name: 10 for _, name in writers}


async def test_what_nobody_needs_any_more_is_dropped(
    documents: tuple[Documents, Documents],
) -> None:
    one, other = documents
    for minutes in (1, 5):
        await one.write(f"{minutes}", {}, Document(), until=NOON + timedelta(minutes=minutes))
    await one.write("for ever", {}, Document())
    before = await one.read("1")
    await other.drop(NOON + timedelta(minutes=3))
    assert set(await other.versions(["1", "5", "for ever"])) == {"5", "for ever"}
    done, _ = await other.write("1", {}, before)
    assert not done
    done, made_again = await other.write("1", {}, Document())
    assert done
    assert made_again.version != before.version
