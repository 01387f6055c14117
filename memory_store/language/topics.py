"""What people tell of themselves, in groups, each with sentences like those that belong there."""

from memory_store.language.word_lists import word_table

TOPICS: dict[str, tuple[str, ...]] = {
    topic: tuple(like) for topic, like in word_table("english", "topics").items()
}
"""The sentences of each group, the groups in the order in which they are shown."""
