"""A few rounds of two users, that the contract tests talk about."""

from datetime import UTC, datetime, timedelta

from memory_store import Days, MemoryStore, Query, Round

MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)


def said(user: str, session: str, index: int, text: str, reply: str = "", days: float = 0) -> Round:
    return Round(user, session, index, MAY + timedelta(days=days), text, reply)


CAT = said("ann", "s1", 0, "I adopted a cat called Miso.", "Lovely!")
BREAD = said("ann", "s2", 0, "How does one bake bread?", "With flour and patience.", days=1)
OVEN = said("ann", "s2", 1, "My oven is broken.", "Use a pan.", days=1)
REX = said("bob", "s1", 0, "My cat chased the dog Rex.", "Poor Rex!")


async def found(store: MemoryStore, text: str, user: str = "ann", days: Days = Days()) -> list[str]:
    recall = await store.recall(Query(user, text, days=days))
    return [hit.record.round.user_text for hit in recall.rounds]
