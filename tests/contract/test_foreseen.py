"""What a round would be if it were stored now."""

from datetime import UTC, datetime

from memory_store import MemoryStore, Round

AT = datetime(2023, 5, 20, 10, tzinfo=UTC)


async def test_it_says_what_it_would_replace_and_stores_nothing(store: MemoryStore) -> None:
    await store.remember([Round("ann", "s", 0, AT, "I live in Ghent.")])
    before = await store.records("ann")
    record = await store.foreseen(Round("ann", "s", 1, AT, "I live in Oslo now."))
    assert [link.text for fact in record.facts for link in fact.supersedes] == ["I live in Ghent."]
    assert await store.records("ann") == before
    assert (await store.foreseen(Round("eve", "s", 1, AT, "I live in Oslo."))).facts[
        0
    ].supersedes == ()
