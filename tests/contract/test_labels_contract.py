"""Rounds labelled by their caller, those that expire, and what goes by rule, on every engine."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from cat_and_bread import BREAD, CAT, MAY, REX, said

from memory_store import (
    Correction,
    Extraction,
    Fact,
    Listing,
    MemoryStore,
    Query,
    Record,
    RetentionRule,
    Round,
    where,
)
from memory_store.errors import InvalidRecord
from memory_store.transfer import from_lines, to_lines

HOME = replace(CAT, labels={"topic": "home", "stars": 5, "mine": True})
WORK = replace(BREAD, labels={"topic": "work", "stars": 5})
OTHERS = replace(REX, labels={"topic": "home"})


async def labelled(store: MemoryStore) -> None:
    await store.remember([HOME, WORK, OTHERS, said("ann", "s9", 0, "I own a parrot named Coco.")])


async def held(store: MemoryStore, round: Round) -> Round:
    record = await store.round(round.user_id, round.id)
    assert record is not None
    return record.round


async def test_labels_and_expiry_come_back(store: MemoryStore) -> None:
    expiring = replace(HOME, expires_at=MAY + timedelta(days=1))
    await store.remember([expiring, BREAD])
    assert ((await held(store, CAT)).labels, (await held(store, CAT)).expires_at) == (
        HOME.labels,
        expiring.expires_at,
    )
    assert ((await held(store, BREAD)).labels, (await held(store, BREAD)).expires_at) == ({}, None)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"topic": "home"}, {CAT.id}),
        ({"topic": ["home", "work"]}, {CAT.id, BREAD.id}),
        ({"topic": "work", "stars": 5}, {BREAD.id}),
        ({"topic": "home", "stars": 4}, set()),
        ({"mine": True}, {CAT.id}),
        ({"mine": 1}, set()),
    ],
)
async def test_a_filter_cuts_search_and_lists(
    store: MemoryStore, wanted: dict[str, object], found: set[str]
) -> None:
    await labelled(store)
    only = where(wanted)
    recall = await store.recall(Query("ann", "cat bread parrot", where=only))
    assert {one.record.id for one in recall.rounds} == found
    page = await store.listed(Listing("ann", where=only))
    assert ({record.id for record in page.records}, page.total) == (found, len(found))
    sessions = {CAT.session_id if id == CAT.id else BREAD.session_id for id in found}
    assert {one.session_id for one in await store.sessions("ann", only)} == sessions


async def test_what_replaced_a_round_comes_only_where_it_passes_the_filter(
    store: MemoryStore,
) -> None:
    ghent = replace(said("ann", "s1", 0, "I live in Ghent."), labels={"year": 2023})
    bruges = replace(
        said("ann", "s1", 1, "I moved to Bruges."), session_date=MAY + timedelta(days=3)
    )
    await store.remember([ghent])
    await store.remember([bruges])
    every = await store.recall(Query("ann", "Where do I live?"))
    assert {one.record.id for one in every.rounds} == {bruges.id, ghent.id}
    only = await store.recall(Query("ann", "Where do I live?", where=where({"year": 2023})))
    assert [one.record.id for one in only.rounds] == [ghent.id]


async def test_a_session_is_labelled_anew(store: MemoryStore) -> None:
    await labelled(store)
    records = await store.name_session("ann", HOME.session_id, None, {"topic": "pets"})
    assert all(record.round.labels == {"topic": "pets"} for record in records)
    by_id = {one.session_id: one for one in await store.sessions("ann")}
    assert by_id[HOME.session_id].labels == {"topic": "pets"}
    assert (await held(store, REX)).labels == {"topic": "home"}
    await store.name_session("ann", HOME.session_id, None, {})
    assert (await held(store, CAT)).labels == {}
    with pytest.raises(InvalidRecord):
        await store.name_session("ann", HOME.session_id, None, {"no name": 1})


async def test_labels_outlast_every_change_and_every_move(store: MemoryStore) -> None:
    expiring = replace(HOME, expires_at=MAY + timedelta(days=1))
    await store.remember([expiring])

    async def is_kept(round: Round) -> bool:
        there = await held(store, round)
        return (there.labels, there.expires_at) == (expiring.labels, expiring.expires_at)

    await store.enrich(await held(store, CAT), Extraction("model", (Fact("I have a cat."),)))
    assert await is_kept(CAT)
    await store.correct("ann", CAT.id, Correction(MAY, user_text="I adopted a dog."))
    assert await is_kept(CAT)
    await store.let_supersede("ann", CAT.id, False)
    assert await is_kept(CAT)
    taken_out: list[Record] = list(from_lines(to_lines(await store.records("ann"))))
    await store.bring_in("eve", taken_out)
    assert await is_kept(replace(CAT, user_id="eve"))
    for user in ("ann", "eve"):
        await store.forget_user(user)


NOON = datetime(2023, 5, 21, 12, tzinfo=UTC)
AFTER = timedelta(seconds=1)


async def test_only_what_has_expired_goes_counted_before(store: MemoryStore) -> None:
    soon, later = replace(HOME, expires_at=NOON), replace(WORK, expires_at=NOON + AFTER)
    await store.remember([soon, later, replace(REX, expires_at=NOON)])
    rule = RetentionRule(expired_by=NOON)
    assert (await store.forget_by_rule("ann", RetentionRule(expired_by=NOON - AFTER))).rounds == 0
    counted = await store.forget_by_rule("ann", rule, dry_run=True)
    assert (counted.rounds, counted.sessions) == (1, 0 if CAT.session_id == BREAD.session_id else 1)
    assert await store.count("ann") == 2
    assert await store.forget_by_rule("ann", rule) == counted
    assert await store.round("ann", CAT.id) is None
    assert (await store.forget_by_rule("ann", rule)).rounds == 0
    # Another user's stays until it is that user's turn.
    assert await store.count("bob") == 1


async def test_a_rule_takes_what_is_old_and_labelled_and_each_round_once(
    store: MemoryStore,
) -> None:
    rounds = [
        replace(
            said("ann", f"day {day}", 0, f"I like tea number {day}."),
            session_date=MAY + timedelta(days=day),
            labels={"topic": "tea" if day % 2 else "bread"},
            expires_at=NOON if day < 2 else None,
        )
        for day in range(6)
    ]
    await store.remember(rounds)
    third = (MAY + timedelta(days=3)).date()
    tea = where({"topic": "tea"})
    assert (await store.forget_by_rule("ann", RetentionRule(NOON, third), dry_run=True)).rounds == 4
    assert (await store.forget_by_rule("ann", RetentionRule(NOON, third, tea))).rounds == 2
    left = {record.round.session_id for record in await store.records("ann")}
    assert left == {"day 0", "day 2", "day 4", "day 5"}
    assert (
        await store.forget_by_rule("ann", RetentionRule(said_until=date(2030, 1, 1)))
    ).sessions == 4
    assert await store.count("ann") == 0


def test_a_rule_names_a_time() -> None:
    with pytest.raises(InvalidRecord):
        RetentionRule(where=where({"topic": "tea"}))
