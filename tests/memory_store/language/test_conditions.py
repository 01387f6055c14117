"""Up to when a statement holds, as it says itself; and what only looks like that."""

from datetime import date

import pytest

from memory_store.language.conditions import condition_of, is_condition, is_open

SAID = date(2026, 11, 28)


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("I work from home until 1 May.", date(2027, 5, 1)),
        ("Until the 1st of May, I work from home.", date(2027, 5, 1)),
        ("I am off until the end of March.", date(2027, 3, 31)),
        ("I'm off 'til Monday.", date(2026, 11, 30)),
        ("I'm in Lisbon from 3 March until 1 May.", date(2027, 5, 1)),
    ],
)
def test_a_day(said: str, until: date) -> None:
    condition = condition_of(said, SAID)
    assert condition is not None
    assert condition.until == until


@pytest.mark.parametrize(
    ("said", "slot", "value"),
    [
        ("I have lunch at De Kas while I live in Ghent.", "live in", "ghent"),
        ("While I live in Ghent, I cycle to work.", "live in", "ghent"),
        ("I get up at six as long as I work at Acme.", "work at", "acme"),
    ],
)
def test_a_state(said: str, slot: str, value: str) -> None:
    condition = condition_of(said, SAID)
    assert condition is not None
    assert (condition.slot, condition.value) == (slot, value)


@pytest.mark.parametrize(
    "said",
    [
        "I rent this flat until March.",
        "I live with my parents until I find a flat.",
        "I stay here as long as my mother needs me.",
    ],
)
def test_nobody_can_bind_it(said: str) -> None:
    condition = condition_of(said, SAID)
    assert condition is not None
    assert is_open(condition)


@pytest.mark.parametrize(
    "said", ["Call me Max unless I say otherwise.", "I drink no coffee until further notice."]
)
def test_the_user_will_say_so(said: str) -> None:
    condition = condition_of(said, SAID)
    assert condition is not None
    assert not is_open(condition)


@pytest.mark.parametrize(
    "said",
    [
        "I lived there until May 2019.",
        "I waited until Friday for the parcel.",
        "I waited until the rain stopped.",
        "I didn't know until she told me.",
        "I work until 6 pm every day.",
        "My meeting was moved until 1 May.",
        "I listen to music while I run.",
        "I met Ann while I was in Ghent.",
    ],
)
def test_no_condition(said: str) -> None:
    assert condition_of(said, SAID) is None


@pytest.mark.parametrize(
    ("said", "alone"),
    [
        ("Until 1 May.", True),
        ("It holds until the 1st of June!", True),
        ("as long as I live in Ghent", True),
        ("I work from home until 1 May", False),
    ],
)
def test_a_message_that_is_a_condition(said: str, alone: bool) -> None:
    assert is_condition(said) is alone
