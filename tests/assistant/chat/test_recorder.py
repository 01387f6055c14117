"""The one way into memory: once, in order, whoever writes at the same time."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.chat.recorder import Recorder
from assistant.chat.turns import Role, Turn
from memory_store import Correction, MemoryStore
from memory_store.embedding import (
    Embedder,
    Encoder,
    EncoderIdentity,
    HashEncoder,
    TextKind,
)
from memory_store.embedding.encoder import Matrix
from memory_store.engines import EdgeEngine
from memory_store.errors import EmbeddingFailed

NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)


def user(text: str, minute: float = 0, *, timed: bool = True) -> Turn:
    return Turn(Role.USER, text, NOON + timedelta(minutes=minute), timed)


def assistant(text: str, minute: float = 0, *, timed: bool = True) -> Turn:
    return Turn(Role.ASSISTANT, text, NOON + timedelta(minutes=minute), timed)


def conversation(rounds: int) -> list[Turn]:
    pairs = [(user(f"u{i}", i), assistant(f"a{i}", i)) for i in range(rounds)]
    return [turn for pair in pairs for turn in pair]


async def sides(store: MemoryStore, user_id: str, session_id: str) -> list[tuple[str, str]]:
    records = await store.session(user_id, session_id)
    return [(record.round.user_text, record.round.assistant_text) for record in records]


async def test_turns_become_rounds_and_the_call_says_which(store: MemoryStore) -> None:
    done = await Recorder(store).record("ann", "s", conversation(2))
    assert (done.recorded, done.known) == (4, 0)
    assert [round.round_index for round in done.rounds] == [0, 1]
    assert await sides(store, "ann", "s") == [("u0", "a0"), ("u1", "a1")]


async def test_nothing_is_fine(store: MemoryStore) -> None:
    done = await Recorder(store).record("ann", "s", [])
    assert done == ([], 0, 0)
    assert await store.count("ann") == 0


async def test_turns_sent_again_change_nothing(store: MemoryStore) -> None:
    recorder = Recorder(store)
    await recorder.record("ann", "s", conversation(3))
    again = await recorder.record("ann", "s", conversation(4))
    assert (again.recorded, again.known) == (2, 6)
    assert [round.round_index for round in again.rounds] == [3]
    assert await store.count("ann") == 4


async def test_turn_by_turn_is_the_same_as_all_at_once(store: MemoryStore) -> None:
    recorder = Recorder(store)
    for turn in conversation(3):
        await recorder.record("ann", "one by one", [turn])
    await recorder.record("ann", "at once", conversation(3))
    assert await sides(store, "ann", "one by one") == await sides(store, "ann", "at once")


async def test_a_restart_knows_what_was_recorded(tmp_path: Path) -> None:
    for _ in range(2):
        store = MemoryStore(EdgeEngine(tmp_path), Embedder(HashEncoder()))
        await store.open()
        done = await Recorder(store).record("ann", "s", conversation(2))
        await store.close()
    assert (done.recorded, done.known) == (0, 4)


async def test_two_writers_of_one_session_lose_nothing(store: MemoryStore) -> None:
    recorder = Recorder(store)
    turns = [[user(f"u{i}", i), assistant(f"a{i}", i)] for i in range(20)]
    await asyncio.gather(*(recorder.record("ann", "s", pair) for pair in turns))
    stored = await sides(store, "ann", "s")
    assert sorted(stored) == sorted((f"u{i}", f"a{i}") for i in range(20))


async def test_the_same_turns_at_the_same_time_are_stored_once(store: MemoryStore) -> None:
    recorder = Recorder(store)
    calls = [recorder.record("ann", "s", conversation(2)) for _ in range(8)]
    done = await asyncio.gather(*calls)
    assert sum(one.recorded for one in done) == 4
    assert await store.count("ann") == 2


async def test_more_users_and_sessions_than_are_kept_in_hand(store: MemoryStore) -> None:
    recorder = Recorder(store)
    places = [(f"user{u}", f"s{s}") for u in range(70) for s in range(2)]
    places += [("ann", f"s{s}") for s in range(20)]
    for half in (conversation(1)[:1], conversation(1)[1:]):
        await asyncio.gather(*(recorder.record(u, s, half) for u, s in places))
    for user_id, session_id in places:
        assert await sides(store, user_id, session_id) == [("u0", "a0")]


async def test_forgetting_while_writing_ends_in_all_or_nothing(store: MemoryStore) -> None:
    recorder = Recorder(store)
    await recorder.record("ann", "s", conversation(3))
    forgotten, done = await asyncio.gather(
        recorder.forget("ann", session_id="s"), recorder.record("ann", "s", conversation(4))
    )
    assert forgotten.rounds == 3
    assert done.recorded == 8  # after the forgetting, all of them are new
    assert len(await sides(store, "ann", "s")) == 4


@pytest.mark.parametrize("what", ["session", "round", "user"])
async def test_what_was_forgotten_can_be_recorded_again(store: MemoryStore, what: str) -> None:
    recorder = Recorder(store)
    done = await recorder.record("ann", "s", conversation(1))
    forget = {
        "session": lambda: recorder.forget("ann", session_id="s"),
        "round": lambda: recorder.forget("ann", round_id=done.rounds[0].id),
        "user": lambda: recorder.forget("ann"),
    }
    assert (await forget[what]()).rounds == 1
    assert (await forget[what]()).rounds == 0
    assert (await recorder.record("ann", "s", conversation(1))).recorded == 2


async def test_nobody_forgets_anothers(store: MemoryStore) -> None:
    recorder = Recorder(store)
    done = await recorder.record("ann", "s", conversation(1))
    assert (await recorder.forget("bob", round_id=done.rounds[0].id)).rounds == 0
    assert (await recorder.forget("bob", session_id="s")).rounds == 0
    assert (await recorder.forget("bob")).rounds == 0
    assert await store.count("ann") == 1


async def test_a_live_round_again_overwrites_itself(store: MemoryStore) -> None:
    recorder = Recorder(store)
    for answer in ("first answer", "better answer"):
        said, given = user("hi", timed=False), assistant(answer, timed=False)
        await recorder.record_round("ann", "s", said, given)
    assert await sides(store, "ann", "s") == [("hi", "better answer")]


async def test_live_and_recorded_rounds_follow_each_other(store: MemoryStore) -> None:
    recorder = Recorder(store)
    await recorder.record("ann", "s", conversation(1))
    await recorder.record_round("ann", "s", user("u1", 5), assistant("a1", 5), ["u0", "a0"])
    await recorder.record("ann", "s", [user("u2", 9)])
    assert await sides(store, "ann", "s") == [("u0", "a0"), ("u1", "a1"), ("u2", "")]


class _Breakable(Encoder):
    """Fails on texts that hold `break`."""

    def __init__(self) -> None:
        self._encoder = HashEncoder()

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        if any("break" in text for text in texts):
            raise EmbeddingFailed("broken, as asked")
        return self._encoder.encode(texts, kind)


async def test_a_write_that_fails_leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    store = MemoryStore(EdgeEngine(tmp_path), Embedder(_Breakable()))
    await store.open()
    recorder = Recorder(store)
    await recorder.record("ann", "s", conversation(1))
    with pytest.raises(EmbeddingFailed):
        await recorder.record("ann", "s", [user("u1", 1), user("break", 2)])
    assert await sides(store, "ann", "s") == [("u0", "a0")]
    done = await recorder.record("ann", "s", [user("u1", 1)])
    assert (done.recorded, done.rounds[0].round_index) == (1, 1)
    await store.close()


async def test_a_cancelled_write_does_not_hold_up_the_next_one(store: MemoryStore) -> None:
    recorder = Recorder(store)
    first = asyncio.create_task(recorder.record("ann", "s", conversation(3)))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await recorder.record("ann", "s", conversation(3))
    assert await sides(store, "ann", "s") == [("u0", "a0"), ("u1", "a1"), ("u2", "a2")]


async def put_right(recorder: Recorder, id: str) -> None:
    await recorder.correct("ann", id, Correction(NOON, user_text="My safe opens with 1234."))


async def forget(recorder: Recorder, id: str) -> None:
    await recorder.forget("ann", round_id=id)


async def told_again(recorder: Recorder, id: str) -> None:
    await recorder.record("ann", "told", [user("My safe opens with 4711."), assistant("Noted.")])


async def answered_again(recorder: Recorder, id: str) -> None:
    said, given = user("What opens my safe?"), assistant("That is 4711.")
    await recorder.record_round("ann", "asked", said, given, repeats=[id])


async def forget_everything(recorder: Recorder, id: str) -> None:
    await recorder.forget("ann")


@pytest.mark.parametrize("call", [told_again, answered_again, put_right, forget, forget_everything])
async def test_a_call_cancelled_at_any_moment_and_made_again_ends_as_it_would_have(
    store: MemoryStore, call: Callable[[Recorder, str], Awaitable[None]]
) -> None:
    async def begun() -> tuple[Recorder, str]:
        await store.forget_user("ann")
        recorder = Recorder(store, forget_replies=lambda: None)
        said, given = user("My safe opens with 4711."), assistant("Noted.")
        told = await recorder.record_round("ann", "told", said, given)
        asked, answer = user("What opens my safe?"), assistant("You said: 4711.")
        await recorder.record_round("ann", "asked", asked, answer, repeats=[told.id])
        return recorder, told.id

    recorder, id = await begun()
    await call(recorder, id)
    wanted = await store.records("ann")
    for steps in itertools.count():
        recorder, id = await begun()
        calling = asyncio.create_task(call(recorder, id))
        for _ in range(steps):
            await asyncio.sleep(0)
        calling.cancel()
        await asyncio.wait([calling])
        await call(recorder, id)
        assert await store.records("ann") == wanted, f"cancelled after {steps} steps"
        if not calling.cancelled():
            return


async def test_replies_are_forgotten_when_forgetting_is_tried_again(store: MemoryStore) -> None:
    tries: list[bool] = []

    def forget_replies() -> None:
        tries.append(True)
        if len(tries) == 1:
            raise OSError("the disk went away")

    recorder = Recorder(store, forget_replies=forget_replies)
    await recorder.record("ann", "s", conversation(1))
    with pytest.raises(OSError, match="went away"):
        await recorder.forget("ann", session_id="s")
    assert (await recorder.forget("ann", session_id="s")).rounds == 0
    assert len(tries) == 2


@pytest.mark.parametrize(
    ("change", "to_read"), [(put_right, {"told", "asked"}), (forget, {"asked"})]
)
async def test_rounds_that_a_change_leaves_to_be_read_again_are_told_of(
    store: MemoryStore, change: Callable[[Recorder, str], Awaitable[None]], to_read: set[str]
) -> None:
    recorder = Recorder(store, enriched_later=True)
    said, noted = user("My safe opens with 4711.", 0), assistant("Noted.", 0)
    told = await recorder.record_round("ann", "told", said, noted)
    question, answer = user("What opens my safe?", 9), assistant("4711 opens it.", 9)
    await recorder.record_round("ann", "asked", question, answer, (), (told.id,))
    heard: set[str] = set()
    recorder.watch(lambda user_id, session_id: heard.add(session_id))
    await change(recorder, told.id)
    assert heard == to_read
