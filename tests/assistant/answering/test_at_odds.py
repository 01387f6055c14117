"""What is at odds among recalled rounds: denials of what was done, and amounts that changed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from assistant.answering.at_odds import at_odds, without_odds
from assistant.answering.context import read_memory
from assistant.answering.plan import ReadingPlan
from assistant.answering.reader import Question
from assistant.models.token_counter import about_tokens
from memory_store import Fact, MemoryStore, Recall, Recalled, Round, Speaker

DAY = datetime(2023, 5, 20, 10, tzinfo=UTC)
SHOWN = "I have exhibited prints at the Kunsthalle in Bern."
DENIED = "I have never exhibited any prints at the Kunsthalle in Bern."
OWN = "I like how honest she is, and we talk every week."
RENT = "The rent for my studio in Bern is $820 with heating."
RAISED = "The rent for my studio in Bern is now $890 with heating."


async def read(store: MemoryStore, said: Sequence[str], *, names: Sequence[str] = ()) -> str:
    """What is read of these messages, a day apart."""
    rounds = [
        Round("ann", f"s{n}", 0, DAY + timedelta(days=n), text, user_name=name)
        for n, (text, name) in enumerate(zip(said, names or [None] * len(said), strict=True))
    ]
    found = [Recalled(record, 0.5) for record in await store.remember(rounds)]
    question = Question("What did I say of my prints?", DAY + timedelta(days=9))
    return (await read_memory(store, question, found, ReadingPlan(), about_tokens)).text


async def test_a_denial_stands_beside_the_account_that_it_denies(store: MemoryStore) -> None:
    text = await read(store, [SHOWN, DENIED])
    assert f'"contradicted": "“{SHOWN}” by “{DENIED}” on 2023-05-21 (Sun)"' in text
    assert text.count("contradicted") == 1


@pytest.mark.parametrize(
    "said",
    [
        [DENIED, SHOWN],
        ["I want to show my prints at the Kunsthalle in Bern.", DENIED],
        [SHOWN, "I have never eaten a fig, are they sweet?"],
        [f'Translate: "{SHOWN} I live in Bern and I have two cats."', DENIED],
        [SHOWN, f'My sister laughed on the phone yesterday and told me: "{DENIED}" {OWN}'],
        [f'My sister wrote me: "{SHOWN}" {OWN}', DENIED],
    ],
)
async def test_what_came_later_was_wished_or_is_of_something_else_is_not_denied(
    store: MemoryStore, said: Sequence[str]
) -> None:
    assert "contradicted" not in await read(store, said)


async def test_what_the_assistant_stated_is_at_odds_with_nothing(store: MemoryStore) -> None:
    rounds = [
        Round("ann", f"s{n}", 0, DAY + timedelta(days=n), "What about my prints?", said)
        for n, said in enumerate([SHOWN, DENIED])
    ]
    found = [
        replace(record, facts=(Fact(record.round.assistant_text, Speaker.ASSISTANT, "a model"),))
        for record in await store.remember(rounds)
    ]
    assert await at_odds(store, [Recalled(record, 0.5) for record in found]) == {}


async def test_an_amount_that_changed_has_the_newer_one_and_its_day(store: MemoryStore) -> None:
    text = await read(store, [RENT, RAISED])
    assert f'"replaced": "“{RENT}” by “{RAISED}” on 2023-05-21 (Sun)"' in text


@pytest.mark.parametrize(
    "said",
    [
        [RENT, RENT.replace("820", "890")],
        [RENT, "The rent for my studio in Bern is now $820 with heating."],
        [RENT, "The rent for my studio in Bern is now due at 9 am."],
        [RAISED, RENT],
    ],
)
async def test_an_amount_is_replaced_only_where_a_later_one_says_so(
    store: MemoryStore, said: Sequence[str]
) -> None:
    assert "replaced" not in await read(store, said)


@pytest.mark.parametrize(("second", "expected"), [("Ann", 2), ("Bo", 0)])
async def test_nobody_denies_or_replaces_what_another_said(
    store: MemoryStore, second: str, expected: int
) -> None:
    names = ["Ann", second, "Ann", second]
    text = await read(store, [SHOWN, DENIED, RENT, RAISED], names=names)
    assert text.count("contradicted") + text.count("replaced") == expected


@pytest.mark.parametrize(("said", "left"), [([SHOWN, DENIED], []), ([RENT, RAISED], [RAISED])])
async def test_strict_recall_leaves_out_what_is_at_odds(
    store: MemoryStore, said: Sequence[str], left: Sequence[str]
) -> None:
    rounds = [
        Round("ann", f"s{n}", 0, DAY + timedelta(days=n), text)
        for n, text in enumerate([*said, OWN])
    ]
    found = [Recalled(record, 0.5) for record in await store.remember(rounds)]
    strict = await without_odds(store, Recall(tuple(found), (), {}))
    assert [one.record.round.user_text for one in strict.rounds] == [*left, OWN]
    assert strict.left_out == {"at_odds": len(said) - len(left)}
