"""Knowledge updates by rules: the newest statement of the user wins, nobody else's ever does."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from update_cases import CASES, Case

from memory_store import Days, MemoryStore, Query, Record, Round
from memory_store.language.authorship import authorship
from memory_store.language.statements import stated

START = datetime(2023, 1, 10, 12, tzinfo=UTC)


def rounds_of(case: Case) -> list[Round]:
    rounds = []
    for number, said in enumerate(case.said):
        user, assistant = said if isinstance(said, tuple) else (said, "Noted.")
        when = START + timedelta(days=30 * number)
        rounds.append(Round("ann", f"s{number}", 0, when, user, assistant))
    return rounds


async def records(store: MemoryStore, rounds: Sequence[Round]) -> list[Record]:
    found = [await store.round("ann", round.id) for round in rounds]
    return [record for record in found if record]


def replaced(found: Sequence[Record]) -> list[tuple[str, str]]:
    """(older, newer) as the older facts say, checked against what the newer ones say."""
    facts = [fact for record in found for fact in record.facts]
    forth = [(f.text, f.superseded_by.text) for f in facts if f.superseded_by]
    back = [(older.text, fact.text) for fact in facts for older in fact.supersedes]
    assert sorted(forth) == sorted(back)
    return forth


async def recalled(store: MemoryStore, question: str, until: date | None = None) -> list[Record]:
    found = await store.recall(Query("ann", question, days=Days(last=until)))
    similarities = [one.similarity for one in found.rounds]
    assert similarities == sorted(similarities, reverse=True)
    return [one.record for one in found.rounds]


@pytest.mark.parametrize(
    ("older", "newer", "links"),
    [
        ("Caroline", "Melanie", 0),
        ("Caroline", "Caroline", 1),
        (None, "Caroline", 1),
        ("Caroline", None, 1),
        (None, None, 1),
    ],
)
async def test_two_who_speak_by_name_have_a_home_each(
    store: MemoryStore, older: str | None, newer: str | None, links: int
) -> None:
    said = [(older, "I live in Ghent."), (newer, "I moved to Bruges yesterday.")]
    rounds = [
        Round("ann", f"s{number}", 0, START + timedelta(days=number), text, user_name=name)
        for number, (name, text) in enumerate(said)
    ]
    await store.remember(rounds)
    assert len(replaced(await records(store, rounds))) == links


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_newest_statement_wins_and_the_past_can_be_read(
    store: MemoryStore, case: Case
) -> None:
    rounds = rounds_of(case)
    for round in rounds:
        await store.remember([round])
    assert replaced(await records(store, rounds)) == list(case.replaced)

    if case.replaced and len(rounds) > 1:
        found = await recalled(store, case.question)
        assert found[0].round == rounds[-1]
        assert {older.text for fact in found[0].facts for older in fact.supersedes}

    for round in rounds:
        then = await recalled(store, case.question, until=round.session_date.date())
        assert {one.round.session_id for one in then} <= {
            r.session_id for r in rounds if r.session_date <= round.session_date
        }
        facts = [f for record in then if record.round == round for f in record.facts]
        for fact in facts:  # nothing said later is known
            assert fact.superseded_by is None or fact.superseded_by.round_id == round.id


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_links_follow_from_what_was_said_whatever_order_it_arrived_in(
    store: MemoryStore, case: Case
) -> None:
    rounds = rounds_of(case)
    for round in reversed(rounds):
        await store.remember([round])
    assert replaced(await records(store, rounds)) == list(case.replaced)


@pytest.mark.parametrize(
    "case", [case for case in CASES if len(case.said) > 1 and case.replaced], ids=lambda c: c.name
)
async def test_forgetting_the_newest_brings_the_older_one_back(
    store: MemoryStore, case: Case
) -> None:
    rounds = rounds_of(case)
    await store.remember(rounds)
    await store.forget_session("ann", rounds[-1].session_id)
    left = rounds[:-1]
    before = [pair for pair in case.replaced if pair[1] not in rounds[-1].user_text]
    assert replaced(await records(store, left)) == before


async def test_forgetting_one_in_the_middle_links_its_neighbours(store: MemoryStore) -> None:
    case = next(case for case in CASES if case.name == "moved twice")
    first, second, third = rounds_of(case)
    await store.remember([first, second, third])
    await store.forget_round("ann", second.id)
    pairs = replaced(await records(store, [first, third]))
    assert pairs == [(first.user_text, third.user_text)]


async def test_of_a_sentence_only_the_part_that_holds_is_known(store: MemoryStore) -> None:
    case = Case("", ["I live in Lyon and I work at Acme.", "I moved to Nice."], "")
    both, moved = rounds_of(case)
    asked = ["I live in Lyon and I work at Acme."]
    await store.remember([both])
    assert asked[0] in {link.text for link in await store.known_facts("ann", asked, 9)}
    await store.remember([moved])
    assert [link.text for link in await store.known_facts("ann", asked, 9)] == ["I work at Acme."]


async def test_an_update_can_be_undone_and_done_again(store: MemoryStore) -> None:
    first, second = rounds_of(next(case for case in CASES if case.name == "moved"))
    await store.remember([first, second])
    await store.let_supersede("ann", second.id, False)
    assert replaced(await records(store, [first, second])) == []
    await store.let_supersede("ann", second.id, True)
    assert len(replaced(await records(store, [first, second]))) == 1
    assert await store.let_supersede("ann", "no such id", False) is None


async def test_what_was_written_differently_replaces_nothing_any_more(store: MemoryStore) -> None:
    first, second = rounds_of(next(case for case in CASES if case.name == "moved"))
    await store.remember([first, second])
    again = Round("ann", second.session_id, 0, second.session_date, "Never mind.", "")
    await store.remember([again])
    (found,) = [r for r in await recalled(store, "Where do I live?") if r.round == first]
    assert found.facts[0].superseded_by is None


async def test_users_do_not_update_each_other(store: MemoryStore) -> None:
    first, second = rounds_of(next(case for case in CASES if case.name == "moved"))
    await store.remember([first])
    theirs = Round("bob", "s", 0, second.session_date, second.user_text, "")
    await store.remember([theirs])
    assert replaced(await records(store, [first])) == []
    await store.forget_user("bob")


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "I have a cat.",
        "My cat is asleep.",
        "I moved to the next chapter.",
        "If I live in Paris, I will be happy.",
        "I used to live in Rome.",
        "I read 20 pages a day now.",
        "My sister now lives in Rome.",
        "I hope I now live in Rome.",
    ],
)
def test_statements_that_give_no_value(statement: str) -> None:
    assert stated(statement) is None


@given(st.text())
def test_authorship_keeps_lengths_and_never_adds_a_word(text: str) -> None:
    own = authorship(text).own
    assert len(own) == len(text)
    assert all(ours in (theirs, " ") for ours, theirs in zip(own, text, strict=True))
