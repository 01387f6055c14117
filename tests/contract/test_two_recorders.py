"""Two assistants on one memory write to the same session: nothing is lost, nothing doubled."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from assistant.chat.recorder import Recorder
from assistant.chat.turns import Role, Turn
from assistant.clock import wall_clock
from assistant.worker_messages import Notices
from memory_store import Documents, MemoryStore, Query

NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)


@pytest.fixture
def recorders(
    store: MemoryStore, second_store: MemoryStore, documents: tuple[Documents, Documents]
) -> tuple[Recorder, Recorder]:
    one, other = (Notices(mine, wall_clock) for mine in documents)
    return Recorder(store, notices=one), Recorder(second_store, notices=other)


def exchange(number: int, *, timed: bool = True) -> list[Turn]:
    at = NOON + timedelta(minutes=number if timed else 0)
    return [
        Turn(Role.USER, f"I saw bird {number}.", at, timed),
        Turn(Role.ASSISTANT, f"Bird {number}!", at, timed),
    ]


def exchanges(numbers: Sequence[int], *, timed: bool = True) -> list[Turn]:
    return [turn for number in numbers for turn in exchange(number, timed=timed)]


async def birds(store: MemoryStore, session_id: str = "s") -> Counter[tuple[str, str]]:
    """Both sides of the rounds of a session, and how often each is there."""
    records = await store.session("ann", session_id)
    indexes = [record.round.round_index for record in records]
    assert indexes == sorted(set(indexes))
    return Counter((r.round.user_text, r.round.assistant_text) for r in records)


def once(numbers: Sequence[int]) -> Counter[tuple[str, str]]:
    return Counter((f"I saw bird {n}.", f"Bird {n}!") for n in numbers)


async def test_by_turns(recorders: tuple[Recorder, Recorder], store: MemoryStore) -> None:
    for number in range(12):
        done = await recorders[number % 2].record("ann", "s", exchange(number))
        assert (done.recorded, done.rounds[0].round_index) == (2, number)
    assert await birds(store) == once(range(12))
    recall = await store.recall(Query("ann", "bird 7"))
    assert recall.rounds[0].record.round.user_text == "I saw bird 7."


async def test_one_begins_a_round_and_the_other_ends_it(
    recorders: tuple[Recorder, Recorder], store: MemoryStore
) -> None:
    for number in range(6):
        said, answered = exchange(number)
        await recorders[number % 2].record("ann", "s", [said])
        await recorders[1 - number % 2].record("ann", "s", [answered])
    assert await birds(store) == once(range(6))


@pytest.mark.parametrize("timed", [True, False])
async def test_at_the_same_time(
    recorders: tuple[Recorder, Recorder], store: MemoryStore, timed: bool
) -> None:
    calls = [recorders[n % 2].record("ann", "s", exchange(n, timed=timed)) for n in range(30)]
    done = await asyncio.gather(*calls)
    assert sum(one.recorded for one in done) == 60
    assert await birds(store) == once(range(30))


@pytest.mark.parametrize("timed", [True, False])
async def test_long_lists_at_the_same_time(
    recorders: tuple[Recorder, Recorder], store: MemoryStore, timed: bool
) -> None:
    lists = [exchanges(range(70), timed=timed), exchanges(range(70, 140), timed=timed)]
    await asyncio.gather(
        *(one.record("ann", "s", turns) for one, turns in zip(recorders, lists, strict=True))
    )
    assert await birds(store) == once(range(140))


async def test_the_same_list_to_both_is_recorded_once(
    recorders: tuple[Recorder, Recorder], store: MemoryStore
) -> None:
    turns = exchanges(range(70))
    await asyncio.gather(*(one.record("ann", "s", turns) for one in recorders))
    for recorder in recorders:
        assert (await recorder.record("ann", "s", turns)).recorded == 0
    assert await birds(store) == once(range(70))


async def test_a_request_sent_again_to_the_other_is_one_round(
    recorders: tuple[Recorder, Recorder], store: MemoryStore
) -> None:
    for number in range(4):
        said, answered = exchange(number, timed=False)
        for recorder in recorders:
            await recorder.record_round("ann", "s", said, answered)
    said, answered = exchange(4, timed=False)
    await asyncio.gather(*(one.record_round("ann", "s", said, answered) for one in recorders))
    assert await birds(store) == once(range(5))


async def test_what_one_forgot_the_other_does_not_take_for_known(
    recorders: tuple[Recorder, Recorder], store: MemoryStore
) -> None:
    one, two = recorders
    await one.record("ann", "s", exchanges(range(3)))
    await two.record("ann", "s", exchange(3)[:1])
    await one.forget("ann", session_id="s")
    # The answer to a round that is gone opens one of its own; the round does not come back.
    await two.record("ann", "s", exchange(3)[1:])
    assert await birds(store) == Counter({("", "Bird 3!"): 1})
    done = await two.record("ann", "s", exchanges(range(3)))
    assert (done.recorded, done.known) == (6, 0)


async def test_what_one_forgot_the_other_does_not_go_on_from(
    recorders: tuple[Recorder, Recorder], store: MemoryStore
) -> None:
    one, two = recorders
    await two.record("ann", "s", exchanges(range(3)))
    await one.forget("ann", session_id="s")
    # As if the session began here, for it does.
    said, answered = exchange(5)
    assert (await two.record_round("ann", "s", said, answered)).round.round_index == 0
    done = await two.record("ann", "s", exchange(5))
    assert (done.recorded, done.known) == (0, 2)
    assert await birds(store) == once([5])
    await one.forget("ann")
    done = await two.record("ann", "s", exchange(5))
    assert (done.recorded, done.known) == (2, 0)
    assert await birds(store) == once([5])
