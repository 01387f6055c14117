"""What is delivered of a round that was found."""

from datetime import UTC, datetime

import pytest

from assistant.answering.context import delivered
from assistant.answering.plan import Unit
from memory_store import MemoryStore, Recalled, Record, Round

AT = datetime(2023, 5, 20, tzinfo=UTC)


def round(index: int, session: str = "s") -> Round:
    return Round("ann", session, index, AT, f"{session}{index}")


@pytest.mark.parametrize(
    ("unit", "around"),
    [
        (Unit.ROUND, [["s2"], ["s0"], ["t0"]]),
        (Unit.WINDOW, [["s1", "s2", "s3"], ["s0", "s1"], ["t0"]]),
        (Unit.SESSION, [["s0", "s1", "s2", "s3"], ["s0", "s1", "s2", "s3"], ["t0"]]),
    ],
)
async def test_units(store: MemoryStore, unit: Unit, around: list[list[str]]) -> None:
    await store.remember([*(round(index) for index in range(4)), round(0, "t")])
    found = [Recalled(Record(r), 1.0) for r in (round(2), round(0), round(0, "t"))]
    passages = await delivered(store, found, unit)
    assert [[r.round.user_text for r in passage.around] for passage in passages] == around
    assert [passage.found.round.user_text for passage in passages] == ["s2", "s0", "t0"]


async def test_a_round_forgotten_meanwhile_is_delivered_alone(store: MemoryStore) -> None:
    await store.remember([round(0)])
    found = [Recalled(Record(round(1)), 1.0)]
    (passage,) = await delivered(store, found, Unit.SESSION)
    assert [record.id for record in passage.around] == [round(1).id]
