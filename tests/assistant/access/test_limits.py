"""Limits: who gets how much, when there is more again."""

from collections.abc import Callable
from contextlib import ExitStack
from weakref import WeakSet

import pytest

from assistant.access.doorkeeper import ANYBODY, Caller
from assistant.access.keys import KeyScope
from assistant.access.limits import ANSWERS_AT_ONCE, REQUESTS_PER_MINUTE, RequestLimits
from assistant.errors import InvalidRequest, TooManyRequests
from assistant.settings.groups import LimitSettings

ONE = Caller("key-1", "one", None, frozenset({KeyScope.ACT_AS}))
OTHER = Caller("key-2", "other", "ann", frozenset())


class Seconds:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class User(str):
    """The name of a user, which tells whether anybody still has it."""

    __slots__ = ("__weakref__",)


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


async def allowed(limits: RequestLimits, caller: Caller, user_id: str, *, of: int) -> int:
    """How many of so many requests at once are let in."""
    for count in range(of):
        try:
            await limits.count_request(caller, user_id)
        except TooManyRequests:
            return count
    return of


async def test_each_user_of_each_key_has_a_minute_of_its_own(seconds: Seconds) -> None:
    limits = RequestLimits(LimitSettings(requests_per_minute=6), seconds=seconds)
    assert await allowed(limits, ONE, "ann", of=10) == 6
    assert await allowed(limits, ONE, "bob", of=10) == 6
    assert await allowed(limits, OTHER, "ann", of=10) == 6
    with pytest.raises(TooManyRequests) as refused:
        await limits.count_request(ONE, "ann")
    assert refused.value.retry_after == pytest.approx(10)
    seconds.now += 10
    assert await allowed(limits, ONE, "ann", of=10) == 1
    seconds.now += 1000
    assert await allowed(limits, ONE, "ann", of=10) == 6


async def test_waiting_as_long_as_told_is_enough(seconds: Seconds) -> None:
    limits = RequestLimits(LimitSettings(requests_per_minute=7), seconds=seconds)
    assert await allowed(limits, ONE, "ann", of=8) == 7
    for _ in range(50):
        with pytest.raises(TooManyRequests) as refused:
            await limits.count_request(ONE, "ann")
        seconds.now += (refused.value.retry_after or 0) + 1e-6
        await limits.count_request(ONE, "ann")


async def test_many_users_are_not_remembered_for_ever(seconds: Seconds) -> None:
    limits = RequestLimits(LimitSettings(requests_per_minute=1), seconds=seconds)
    remembered = WeakSet[User]()
    for number in range(10_000):
        user = User(f"user {number}")
        remembered.add(user)
        await limits.count_request(ONE, user)
    assert len(remembered) == 10_000
    seconds.now += 61
    user = User("the next")
    remembered.add(user)
    await limits.count_request(ONE, user)
    assert list(remembered) == ["the next"]


@pytest.mark.parametrize(
    ("settings", "caller", "allowed_at_once"),
    [
        (LimitSettings(), ANYBODY, 5000),
        (LimitSettings(), ONE, REQUESTS_PER_MINUTE),
        (LimitSettings(requests_per_minute=0), ONE, 5000),
        (LimitSettings(requests_per_minute=3), ANYBODY, 3),
    ],
)
async def test_without_keys_there_is_a_limit_only_where_one_is_set(
    seconds: Seconds, settings: LimitSettings, caller: Caller, allowed_at_once: int
) -> None:
    limits = RequestLimits(settings, seconds=seconds)
    assert await allowed(limits, caller, "ann", of=5000) == allowed_at_once


def test_answers_at_once(seconds: Seconds) -> None:
    limits = RequestLimits(LimitSettings(answers_at_once=2), seconds=seconds)
    with limits.answering(ONE, "ann"):
        with limits.answering(ONE, "ann"):
            with pytest.raises(TooManyRequests), limits.answering(ONE, "ann"):
                pytest.fail("a third one")
            with limits.answering(ONE, "bob"):
                pass
        with limits.answering(ONE, "ann"):
            pass


def test_who_was_answered_is_not_remembered() -> None:
    limits = RequestLimits(LimitSettings(answers_at_once=2))
    user = User("ann")
    remembered = WeakSet([user])
    with limits.answering(ONE, user):
        pass
    del user
    assert not remembered


def test_the_default_of_answers_at_once(seconds: Seconds) -> None:
    limits = RequestLimits(LimitSettings(), seconds=seconds)
    with ExitStack() as under_way:
        for caller in (ANYBODY, ONE):
            for _ in range(ANSWERS_AT_ONCE):
                under_way.enter_context(limits.answering(caller, "ann"))
        with limits.answering(ANYBODY, "ann"), pytest.raises(TooManyRequests):
            limits.answering(ONE, "ann").__enter__()


LONG: dict[str, Callable[[RequestLimits], None]] = {
    "too_many_messages": lambda limits: limits.check_messages(["a"] * 4),
    "too_long": lambda limits: limits.check_messages(["a", "a" * 11]),
}


@pytest.mark.parametrize("code", LONG)
def test_sizes(code: str) -> None:
    limits = RequestLimits(LimitSettings(message_characters=10), messages=3, query_characters=5)
    limits.check_messages(["a" * 10] * 3)
    limits.check_query("a" * 5)
    with pytest.raises(InvalidRequest) as refused:
        LONG[code](limits)
    assert refused.value.code == code
    with pytest.raises(InvalidRequest, match="longer than 5 characters"):
        limits.check_query("a" * 6)
    LONG[code](RequestLimits(LimitSettings(message_characters=0), messages=0))
